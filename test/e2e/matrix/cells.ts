// What a host gets from a server through Switchboard, for each feature and each combination of eras.
// The tests of this folder read it, and docs/matrix.md is written from it: there is no other truth.

/** `handshake`: the revisions up to 2025-11-25. `modern`: 2026-07-28. */
export type Era = 'handshake' | 'modern';

/** The era of the host, then that of the server. */
export type Combination = `${Era}/${Era}`;

export const COMBINATIONS: readonly Combination[] = [
  'handshake/handshake',
  'handshake/modern',
  'modern/handshake',
  'modern/modern',
];

/**
 * `same`: passes as it is. `bridged`: the host gets the same by the means of its own era.
 * `differs`: it works, though not quite alike. `refused`: the host is told that it cannot be had.
 * `none`: one of the two eras has no such thing.
 */
export type Outcome = 'same' | 'bridged' | 'differs' | 'refused' | 'none';

export interface Cell {
  readonly outcome: Outcome;
  /** What is worth knowing about it. */
  readonly note?: string;
}

export type Group =
  | 'tools'
  | 'questions'
  | 'refusals'
  | 'endings'
  | 'logging'
  | 'prompts'
  | 'resources'
  | 'changes';

export interface Feature {
  readonly group: Group;
  readonly title: string;
  readonly cells: Readonly<Record<Combination, Cell>>;
}

const SAME: Cell = { outcome: 'same' };
const BRIDGED: Cell = { outcome: 'bridged' };
const REFUSED: Cell = { outcome: 'refused' };
const NONE: Cell = { outcome: 'none' };

const noted = (outcome: Outcome, note: string): Cell => ({ outcome, note });

function cells(hh: Cell, hm: Cell, mh: Cell, mm: Cell): Feature['cells'] {
  return {
    'handshake/handshake': hh,
    'handshake/modern': hm,
    'modern/handshake': mh,
    'modern/modern': mm,
  };
}

const everywhere = (cell: Cell) => cells(cell, cell, cell, cell);
/** Within an era as it is, across eras by other means. */
const BRIDGED_ACROSS = cells(SAME, BRIDGED, BRIDGED, SAME);

const ASKED_BY_REQUEST = noted('bridged', 'the question becomes a request to the host');
const ASKED_BY_RESULT = noted('bridged', 'the call is parked, the question becomes its answer');
const QUESTION = cells(SAME, ASKED_BY_REQUEST, ASKED_BY_RESULT, SAME);
const REFUSED_BY_CODE = noted('refused', 'error −32021');
const LACKING = cells(REFUSED, REFUSED, REFUSED_BY_CODE, REFUSED_BY_CODE);

export const FEATURES = {
  'list-tools': { group: 'tools', title: 'list of tools', cells: everywhere(SAME) },
  call: { group: 'tools', title: 'call', cells: everywhere(SAME) },
  contents: {
    group: 'tools',
    title: 'text, images, audio, links, embedded resources, `_meta`',
    cells: everywhere(SAME),
  },
  structured: { group: 'tools', title: 'structured results', cells: everywhere(SAME) },
  'tool-failure': { group: 'tools', title: 'failed call (`isError`)', cells: everywhere(SAME) },
  'rpc-error': { group: 'tools', title: 'JSON-RPC error with data', cells: everywhere(SAME) },
  'calls-at-once': { group: 'tools', title: 'several calls at once', cells: everywhere(SAME) },
  progress: {
    group: 'tools',
    title: 'progress, also what comes together with the answer',
    cells: everywhere(SAME),
  },
  cancel: { group: 'tools', title: 'cancelling a call', cells: everywhere(SAME) },

  'form-accept': { group: 'questions', title: 'form, accepted', cells: QUESTION },
  'form-decline': { group: 'questions', title: 'form, declined', cells: QUESTION },
  'form-cancel': { group: 'questions', title: 'form, dismissed', cells: QUESTION },
  url: {
    group: 'questions',
    title: 'page to visit',
    cells: cells(
      SAME,
      noted('bridged', 'Switchboard gives the question its `elicitationId`'),
      noted('bridged', '`elicitationId` is left out'),
      SAME,
    ),
  },
  'url-done': {
    group: 'questions',
    title: 'news that the page was visited',
    cells: cells(SAME, NONE, NONE, NONE),
  },
  'url-first': {
    group: 'questions',
    title: 'call that needs a page first (−32042)',
    cells: cells(
      SAME,
      ASKED_BY_REQUEST,
      noted('bridged', 'the error becomes a question; the host calls again with its answer'),
      SAME,
    ),
  },
  sampling: { group: 'questions', title: "question to the host's model", cells: QUESTION },
  roots: {
    group: 'questions',
    title: 'roots (over HTTP always the served project)',
    cells: QUESTION,
  },
  'two-questions': { group: 'questions', title: 'two questions in one call', cells: QUESTION },
  'mixed-questions': {
    group: 'questions',
    title: 'form, model and roots in one call',
    cells: QUESTION,
  },
  'questions-in-turn': {
    group: 'questions',
    title: 'questions one after the other, with progress between them',
    cells: QUESTION,
  },
  'prompt-question': { group: 'questions', title: 'question of a prompt', cells: QUESTION },
  'resource-question': { group: 'questions', title: 'question of a resource', cells: QUESTION },
  'questions-at-once': {
    group: 'questions',
    title: 'calls at once that all ask: no answer goes to another',
    cells: QUESTION,
  },

  'no-form': { group: 'refusals', title: 'form, for a host without forms', cells: LACKING },
  'no-url': {
    group: 'refusals',
    title: 'page to visit, for a host with forms only',
    cells: LACKING,
  },
  'no-sampling': { group: 'refusals', title: 'model, for a host without one', cells: LACKING },
  'no-roots': {
    group: 'refusals',
    title: 'roots, for a host without them (over HTTP, older revisions get the served project)',
    cells: LACKING,
  },
  'older-host': {
    group: 'refusals',
    title: 'page to visit, for a host of 2025-06-18',
    cells: cells(REFUSED, REFUSED, NONE, NONE),
  },

  unanswered: {
    group: 'endings',
    title: 'question without an answer',
    cells: cells(
      noted('refused', 'when the limit is reached, the host is told to drop the question'),
      noted('refused', 'when the limit is reached, the host is told to drop the question'),
      noted('refused', 'the parked call lapses; the server is told; a late answer is refused'),
      noted('none', 'nothing waits'),
    ),
  },
  'cancel-asked': {
    group: 'endings',
    title: 'call cancelled while a question is open',
    cells: cells(
      SAME,
      noted('bridged', 'the question is withdrawn'),
      noted('differs', 'nothing is sent; the server is told when the parked call lapses'),
      noted('none', 'nothing waits'),
    ),
  },
  'dies-asked': {
    group: 'endings',
    title: 'server that ends while a question is open',
    cells: cells(
      noted('refused', 'the call fails'),
      noted('refused', 'the call fails'),
      noted('refused', 'the call fails when it is answered'),
      noted('same', 'the server is started again for the answer'),
    ),
  },
  'host-leaves': {
    group: 'endings',
    title: 'host that leaves while a question is open',
    cells: everywhere(SAME),
  },

  'log-unasked': {
    group: 'logging',
    title: 'log messages before a level is set',
    cells: cells(
      SAME,
      noted('differs', 'Switchboard chooses the level'),
      noted('differs', 'none, as the revision wants it'),
      SAME,
    ),
  },
  'log-level': { group: 'logging', title: 'log messages from a level on', cells: BRIDGED_ACROSS },

  'list-prompts': { group: 'prompts', title: 'list of prompts', cells: everywhere(SAME) },
  'get-prompt': { group: 'prompts', title: 'prompt with arguments', cells: everywhere(SAME) },
  'prompt-completion': {
    group: 'prompts',
    title: 'completion of an argument',
    cells: everywhere(SAME),
  },

  'list-resources': {
    group: 'resources',
    title: 'list of resources, and of templates',
    cells: everywhere(SAME),
  },
  'read-text': { group: 'resources', title: 'text', cells: everywhere(SAME) },
  'read-binary': { group: 'resources', title: 'binary', cells: everywhere(SAME) },
  'read-template': { group: 'resources', title: 'from a template', cells: everywhere(SAME) },
  'read-view': {
    group: 'resources',
    title: 'view of a tool (`ui://`) with `_meta`',
    cells: everywhere(SAME),
  },
  'read-missing': {
    group: 'resources',
    title: 'resource that is not there',
    cells: cells(
      noted('same', '−32002'),
      noted('same', '−32602'),
      noted('bridged', '−32002 becomes −32602'),
      noted('same', '−32602'),
    ),
  },
  'template-completion': {
    group: 'resources',
    title: 'completion of a variable',
    cells: everywhere(SAME),
  },
  subscription: {
    group: 'resources',
    title: 'news of a resource, and the end of it',
    cells: BRIDGED_ACROSS,
  },

  'tools-changed': { group: 'changes', title: 'other tools', cells: BRIDGED_ACROSS },
  'prompts-changed': { group: 'changes', title: 'other prompts', cells: BRIDGED_ACROSS },
  'resources-changed': { group: 'changes', title: 'other resources', cells: BRIDGED_ACROSS },
} as const satisfies Record<string, Feature>;

export type FeatureId = keyof typeof FEATURES;

export function cellOf(id: FeatureId, host: Era, child: Era): Cell {
  const { cells: row }: Feature = FEATURES[id];
  return row[`${host}/${child}`];
}
