// Reviews each list a server sends. A new item is accepted at first sight, unless the scanner finds an attack. A changed
// one passes if the scanner finds nothing new (`scan`), or is held until the user accepts it (`hold`).
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Log } from '../../base/log.ts';
import { printable } from '../../base/text.ts';
import type { ScreenedList, ScreenVerdict } from '../../child/screen.ts';
import type { ChildConfig } from '../../config/config.ts';
import { type Hints, parseHints, withoutGrowth } from '../../mcp/annotations.ts';
import { parseTools, type Tool } from '../../mcp/tools.ts';
import { CloneFinder, type OtherServer } from '../scanner/clones.ts';
import { type Finding, isHard, maskFinding, newFindings } from '../scanner/finding.ts';
import { isSameProgram } from '../scanner/same-program.ts';
import { scanWords } from '../scanner/scan.ts';
import {
  compareWords,
  countChanges,
  type ItemKind,
  type ItemRecord,
  keyOfItem,
  type PassedChange,
  type ServerRecord,
  type Version,
} from './record.ts';
import { ChangeRecords } from './records.ts';
import { sha256Of, type Words, wordsOf, wordsOfText } from './words.ts';

export interface ReviewerParts {
  readonly records: ChangeRecords;
  readonly log: Log;
  /** The other servers' tools, as far as they are known. */
  readonly others: (config: ChildConfig) => readonly OtherServer[];
}

interface Surroundings extends Pick<ReviewerParts, 'log'> {
  /** All servers of the project. */
  readonly servers: () => readonly ChildConfig[];
  /** Undefined if they aren't known. */
  readonly toolsOf: (config: ChildConfig) => readonly Tool[] | undefined;
}

/** The reviewer of a project's servers. */
export function openReviewer(home: string, { log, servers, toolsOf }: Surroundings): Reviewer {
  return new Reviewer({
    records: new ChangeRecords(home, (problem) => log.warn(problem)),
    log,
    others: (config) =>
      servers()
        .filter((other) => other.name !== config.name && !isSameProgram(other, config))
        .map((other) => ({ name: other.name, tools: toolsOf(other) ?? [] })),
  });
}

/** Words longer than this aren't stored, so their difference isn't shown. */
const MOST_STORED = 20_000;
const MOST_PASSED = 100;
const MOST_SEEN = 8;
/** Other servers wait no longer than this. */
const TURN_MS = 20;

export class Reviewer {
  readonly #parts: ReviewerParts;
  readonly #underWay = new Map<string, Promise<unknown>>();

  constructor(parts: ReviewerParts) {
    this.#parts = parts;
  }

  async review(config: ChildConfig, list: ScreenedList): Promise<ScreenVerdict> {
    // One at a time per server: tools and prompts share a record.
    const before = this.#underWay.get(config.name) ?? Promise.resolve();
    const review = before.then(() => this.#review(config, list));
    const settled = review.catch(() => {}); // the caller gets it
    this.#underWay.set(config.name, settled);
    return review;
  }

  async #review(config: ChildConfig, list: ScreenedList): Promise<ScreenVerdict> {
    const { records, log, others } = this.#parts;
    const { kind, raw, instructions } = list;
    const digest = sha256Of([config.toolChanges, raw, instructions]);
    const known = records.get(config);
    if (known?.lists[kind] === digest) return verdictOn(known, list);
    const now = new Date().toISOString();
    let round: Round | undefined;
    const record = await records.update(config, async (current) => {
      round = new Round(current, { config, list, now, others: () => others(config) });
      const next = await round.run();
      return { ...next, lists: { ...next.lists, [kind]: digest } };
    });
    for (const sentence of round?.notes ?? []) log.info(sentence);
    for (const sentence of round?.warnings ?? []) log.warn(sentence);
    return verdictOn(record, list);
  }
}

interface RoundParts {
  readonly config: ChildConfig;
  readonly list: ScreenedList;
  readonly now: string;
  readonly others: () => readonly OtherServer[];
}

interface ListedItem {
  readonly kind: ItemKind;
  readonly name: string;
  readonly words: Words;
  readonly hints: Hints;
  readonly tool?: Tool;
}

/** The review of one list. */
class Round {
  /** Sentences for the log. */
  readonly notes: string[] = [];
  readonly warnings: string[] = [];
  readonly #parts: RoundParts;
  readonly #record: ServerRecord;
  /** Whether the server's list of this kind has been reviewed before; otherwise all of it is a first sight. */
  readonly #isKnown: boolean;
  readonly #items: Map<string, ItemRecord>;
  readonly #passed: PassedChange[] = [];
  readonly #heldNow: string[] = [];
  #clones: CloneFinder | undefined;

  constructor(record: ServerRecord | undefined, parts: RoundParts) {
    const { name, origin } = parts.config;
    this.#parts = parts;
    this.#record = record ?? { name, origin, items: new Map(), passed: [], lists: {} };
    this.#isKnown = this.#record.lists[parts.list.kind] !== undefined;
    this.#items = new Map(this.#record.items);
  }

  async run(): Promise<ServerRecord> {
    let turnEnds = performance.now() + TURN_MS;
    for (const item of itemsOf(this.#parts.list)) {
      this.#look(item);
      if (performance.now() < turnEnds) continue;
      await nextTurn();
      turnEnds = performance.now() + TURN_MS;
    }
    this.#tell();
    const { name, origin } = this.#parts.config;
    const passed = [...this.#record.passed, ...this.#passed].slice(-MOST_PASSED);
    return { ...this.#record, name, origin, items: this.#items, passed };
  }

  #look(item: ListedItem): void {
    const key = keyOfItem(item.kind, item.name);
    const known = this.#items.get(key);
    const words = sha256Of(item.words);
    const rights = sha256Of(item.hints);
    const { accepted, held } = known ?? {};
    if (accepted?.words === words && accepted.rights === rights) {
      if (known?.held || known?.grown)
        this.#keep(key, { ...known, held: undefined, grown: undefined });
      return;
    }
    if (known && held?.words === words && held.rights === rights && this.#isStillHeld(held)) return;
    const isScanned = accepted?.words !== words;
    const findings = isScanned ? this.#scan(item) : accepted.findings;
    const version: Version = {
      words,
      rights,
      hints: item.hints,
      text: this.#mayStore(item.words) ? item.words : undefined,
      findings: findings.map((found) => maskFinding(found, this.#parts.list.mask)),
    };
    if (!known?.accepted) this.#meet(key, item, version, known);
    else this.#compare(key, item, version, { ...known, accepted: known.accepted });
  }

  /** What `hold` held is judged again once every change may pass. */
  #isStillHeld({ because }: NonNullable<ItemRecord['held']>): boolean {
    return because === 'scan' || this.#parts.config.toolChanges === 'hold';
  }

  /** An item that was never accepted. */
  #meet(key: string, item: ListedItem, version: Version, known: ItemRecord | undefined): void {
    if (version.findings.some(isHard)) {
      this.#hold(key, item, version, known ?? { seen: [] }, 'scan');
      return;
    }
    this.#keep(key, { accepted: version, seen: [] });
    if (this.#isKnown) this.#note(item, 'added', undefined, version);
  }

  #compare(
    key: string,
    item: ListedItem,
    version: Version,
    known: ItemRecord & { readonly accepted: Version },
  ): void {
    const { accepted } = known;
    const hasNewWords = accepted.words !== version.words && !known.seen.includes(version.words);
    const isStrict = this.#parts.config.toolChanges === 'hold';
    if (hasNewWords && newFindings(accepted.findings, version.findings).length > 0) {
      this.#hold(key, item, version, known, 'scan');
      return;
    }
    if (isStrict && (hasNewWords || accepted.rights !== version.rights)) {
      this.#hold(key, item, version, known, 'changed');
      return;
    }
    const inForce = withoutGrowth(accepted.hints, version.hints);
    const hints = inForce ?? version.hints;
    const seen = [accepted.words, ...known.seen.filter((one) => one !== version.words)];
    this.#keep(key, {
      accepted: { ...version, hints, rights: sha256Of(hints) },
      grown: inForce && { hints: version.hints, at: known.grown?.at ?? this.#parts.now },
      seen: accepted.words === version.words ? known.seen : seen.slice(0, MOST_SEEN),
    });
    if (hasNewWords) this.#note(item, 'changed', accepted, version);
    if (inForce && !known.grown) this.warnings.push(this.#describeGrowth(item));
  }

  #hold(
    key: string,
    item: ListedItem,
    version: Version,
    known: ItemRecord,
    because: 'changed' | 'scan',
  ): void {
    this.#keep(key, { ...known, held: { ...version, because, at: this.#parts.now } });
    this.#heldNow.push(nameItem(item));
  }

  #keep(key: string, item: ItemRecord): void {
    this.#items.set(key, item);
  }

  #note(
    { kind, name }: ListedItem,
    what: PassedChange['what'],
    before: Version | undefined,
    after: Version,
  ): void {
    const isShown = after.text !== undefined && (before === undefined || before.text !== undefined);
    const difference =
      isShown && before ? compareWords(before.text, after.text) : { before: [], after: [] };
    this.#passed.push({ kind, name, what, at: this.#parts.now, difference });
  }

  #scan({ words, tool }: ListedItem): Finding[] {
    const found = scanWords(words);
    if (!tool) return found;
    this.#clones ??= new CloneFinder(parseTools(this.#parts.list.raw), this.#parts.others());
    return [...found, ...this.#clones.find(tool)];
  }

  #mayStore(words: Words): boolean {
    const length = words.reduce((sum, [path, text]) => sum + path.length + text.length, 0);
    if (length > MOST_STORED) return false;
    const text = JSON.stringify(words);
    return this.#parts.list.mask(text) === text;
  }

  #tell(): void {
    const { name } = this.#parts.config;
    const changed = this.#passed.map(nameItem);
    if (changed.length > 0) {
      this.notes.push(
        `server "${printable(name)}" has changed ${listNames(changed)}. ${SEE_CHANGES}`,
      );
    }
    if (this.#heldNow.length > 0) {
      this.warnings.push(
        `${listNames(this.#heldNow)} of server "${printable(name)}" ${this.#heldNow.length === 1 ? 'is' : 'are'} held until you accept ${this.#heldNow.length === 1 ? 'it' : 'them'}. ${SEE_CHANGES}`,
      );
    }
  }

  #describeGrowth(item: ListedItem): string {
    const { name } = this.#parts.config;
    return `${nameItem(item)} of server "${printable(name)}" now claims to be safer. Permissions ignore that until you accept it. ${SEE_CHANGES}`;
  }
}

const SEE_CHANGES = 'See: switchboard changes';
const MOST_NAMED = 5;

function nameItem({ kind, name }: Pick<ListedItem, 'kind' | 'name'>): string {
  return kind === 'instructions' ? 'the instructions' : `${kind} "${printable(name)}"`;
}

function listNames(names: readonly string[]): string {
  const more = names.length - MOST_NAMED;
  return `${names.slice(0, MOST_NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** Each name once: only the first of several is ever listed. */
function itemsOf({ kind, raw, instructions, mask }: ScreenedList): ListedItem[] {
  const items = new Map<string, ListedItem>();
  for (const tool of parseTools(raw)) {
    const name = storedName(tool.name, mask);
    if (items.has(name)) continue;
    const words = wordsOf(tool);
    const item: ListedItem =
      kind === 'tools'
        ? { kind: 'tool', name, words, hints: parseHints(tool['annotations']), tool }
        : { kind: 'prompt', name, words, hints: {} };
    items.set(name, item);
  }
  const said: ListedItem[] =
    kind === 'tools' && instructions !== undefined
      ? [{ kind: 'instructions', name: '', words: wordsOfText(instructions), hints: {} }]
      : [];
  return [...items.values(), ...said];
}

/** A name that contains a secret isn't stored. */
function storedName(name: string, mask: ScreenedList['mask']): string {
  return mask(name) === name ? name : `#${sha256Of(name).slice(0, 16)}`;
}

function verdictOn(
  { items, ...record }: ServerRecord,
  { kind, raw, instructions, mask }: ScreenedList,
): ScreenVerdict {
  const wanted = kind === 'tools' ? 'tool' : 'prompt';
  const present = parseTools(raw).flatMap(({ name }) => {
    const item = items.get(keyOfItem(wanted, storedName(name, mask)));
    return item ? [{ name, ...item }] : [];
  });
  return {
    held: present.flatMap(({ name, held }) => (held ? [{ name, because: held.because }] : [])),
    rights: new Map(
      present.flatMap(({ name, grown, accepted }) =>
        grown && accepted ? [[name, accepted.hints] as const] : [],
      ),
    ),
    holdsInstructions: instructions !== undefined && items.get('instructions')?.held !== undefined,
    counts: countChanges({ items, ...record }),
  };
}
