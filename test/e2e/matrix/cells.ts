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

const ASKED_BY_REQUEST = noted('bridged', 'sent to the host as a request');
const ASKED_BY_RESULT = noted(
  'bridged',
  'returned as the result of the call, which the host then continues',
);
const QUESTION = cells(SAME, ASKED_BY_REQUEST, ASKED_BY_RESULT, SAME);
const REFUSED_BY_CODE = noted('refused', 'error −32021');
const LACKING = cells(REFUSED, REFUSED, REFUSED_BY_CODE, REFUSED_BY_CODE);

export const FEATURES = {
  'list-tools': { group: 'tools', title: 'listing tools', cells: everywhere(SAME) },
  call: { group: 'tools', title: 'calling tools', cells: everywhere(SAME) },
  contents: {
    group: 'tools',
    title: 'text, images, audio, links, embedded resources, `_meta`',
    cells: everywhere(SAME),
  },
  structured: { group: 'tools', title: 'structured results', cells: everywhere(SAME) },
  'tool-failure': { group: 'tools', title: 'failed calls (`isError`)', cells: everywhere(SAME) },
  'rpc-error': { group: 'tools', title: 'JSON-RPC errors with data', cells: everywhere(SAME) },
  'calls-at-once': { group: 'tools', title: 'concurrent calls', cells: everywhere(SAME) },
  progress: {
    group: 'tools',
    title: 'progress, including progress sent together with the result',
    cells: everywhere(SAME),
  },
  cancel: { group: 'tools', title: 'cancelling a call', cells: everywhere(SAME) },

  'form-accept': { group: 'questions', title: 'elicitation form, accepted', cells: QUESTION },
  'form-decline': { group: 'questions', title: 'elicitation form, declined', cells: QUESTION },
  'form-cancel': { group: 'questions', title: 'elicitation form, dismissed', cells: QUESTION },
  url: {
    group: 'questions',
    title: 'URL elicitation',
    cells: cells(
      SAME,
      noted('bridged', 'Switchboard adds an `elicitationId`'),
      noted('bridged', 'without `elicitationId`'),
      SAME,
    ),
  },
  'url-done': {
    group: 'questions',
    title: 'notification that the URL elicitation is complete',
    cells: cells(SAME, NONE, NONE, NONE),
  },
  'url-first': {
    group: 'questions',
    title: 'call that requires a URL elicitation first (−32042)',
    cells: cells(
      SAME,
      ASKED_BY_REQUEST,
      noted(
        'bridged',
        'the error becomes an elicitation, and the host repeats the call with the answer',
      ),
      SAME,
    ),
  },
  sampling: { group: 'questions', title: 'sampling', cells: QUESTION },
  roots: {
    group: 'questions',
    title: "roots (over HTTP always Switchboard's project)",
    cells: QUESTION,
  },
  'two-questions': { group: 'questions', title: 'two elicitations in one call', cells: QUESTION },
  'mixed-questions': {
    group: 'questions',
    title: 'elicitation, sampling and roots in one call',
    cells: QUESTION,
  },
  'questions-in-turn': {
    group: 'questions',
    title: 'sequential elicitations with progress in between',
    cells: QUESTION,
  },
  'prompt-question': { group: 'questions', title: 'elicitation from a prompt', cells: QUESTION },
  'resource-question': {
    group: 'questions',
    title: 'elicitation from a resource',
    cells: QUESTION,
  },
  'questions-at-once': {
    group: 'questions',
    title: 'concurrent calls with elicitations, each getting its own answer',
    cells: QUESTION,
  },

  'no-form': { group: 'refusals', title: 'form elicitation, host without support', cells: LACKING },
  'no-url': {
    group: 'refusals',
    title: 'URL elicitation, host that only supports forms',
    cells: LACKING,
  },
  'no-sampling': { group: 'refusals', title: 'sampling, host without support', cells: LACKING },
  'no-roots': {
    group: 'refusals',
    title: 'roots, host without support (over HTTP, older revisions get the project)',
    cells: LACKING,
  },
  'older-host': {
    group: 'refusals',
    title: 'URL elicitation, host of 2025-06-18',
    cells: cells(REFUSED, REFUSED, NONE, NONE),
  },

  unanswered: {
    group: 'endings',
    title: 'elicitation that times out',
    cells: cells(
      noted('refused', 'Switchboard cancels the request in the host'),
      noted('refused', 'Switchboard cancels the request in the host'),
      noted('refused', 'Switchboard cancels the call; a late answer is rejected'),
      noted('none', 'there is no open request'),
    ),
  },
  'cancel-asked': {
    group: 'endings',
    title: 'call cancelled during an elicitation',
    cells: cells(
      SAME,
      noted('bridged', 'the elicitation is cancelled'),
      noted('differs', 'the server is notified when the open call expires'),
      noted('none', 'there is no open request'),
    ),
  },
  'dies-asked': {
    group: 'endings',
    title: 'server exits during an elicitation',
    cells: cells(
      noted('refused', 'the call fails'),
      noted('refused', 'the call fails'),
      noted('refused', 'the call fails when the host answers'),
      noted('same', 'the server is restarted for the answer'),
    ),
  },
  'host-leaves': {
    group: 'endings',
    title: 'host disconnects during an elicitation',
    cells: everywhere(SAME),
  },

  'log-unasked': {
    group: 'logging',
    title: 'log messages before a level is set',
    cells: cells(
      SAME,
      noted('differs', 'Switchboard chooses the level'),
      noted('differs', 'none, as 2026-07-28 requires'),
      SAME,
    ),
  },
  'log-level': { group: 'logging', title: 'log messages at a given level', cells: BRIDGED_ACROSS },

  'list-prompts': { group: 'prompts', title: 'listing prompts', cells: everywhere(SAME) },
  'get-prompt': { group: 'prompts', title: 'prompts with arguments', cells: everywhere(SAME) },
  'prompt-completion': {
    group: 'prompts',
    title: 'argument completion',
    cells: everywhere(SAME),
  },

  'list-resources': {
    group: 'resources',
    title: 'listing resources and templates',
    cells: everywhere(SAME),
  },
  'read-text': { group: 'resources', title: 'text contents', cells: everywhere(SAME) },
  'read-binary': { group: 'resources', title: 'binary contents', cells: everywhere(SAME) },
  'read-template': {
    group: 'resources',
    title: 'resources from a template',
    cells: everywhere(SAME),
  },
  'read-view': {
    group: 'resources',
    title: "a tool's view (`ui://`) with `_meta`",
    cells: everywhere(SAME),
  },
  'read-missing': {
    group: 'resources',
    title: 'missing resource',
    cells: cells(
      noted('same', '−32002'),
      noted('same', '−32602'),
      noted('bridged', '−32002 becomes −32602'),
      noted('same', '−32602'),
    ),
  },
  'template-completion': {
    group: 'resources',
    title: 'template variable completion',
    cells: everywhere(SAME),
  },
  subscription: {
    group: 'resources',
    title: 'subscribing to a resource and unsubscribing',
    cells: BRIDGED_ACROSS,
  },

  'tools-changed': { group: 'changes', title: 'changed tools', cells: BRIDGED_ACROSS },
  'prompts-changed': { group: 'changes', title: 'changed prompts', cells: BRIDGED_ACROSS },
  'resources-changed': { group: 'changes', title: 'changed resources', cells: BRIDGED_ACROSS },
} as const satisfies Record<string, Feature>;

export type FeatureId = keyof typeof FEATURES;

export function cellOf(id: FeatureId, host: Era, child: Era): Cell {
  const { cells: row }: Feature = FEATURES[id];
  return row[`${host}/${child}`];
}
