// Reads files through the judge: what a project's file says counts only if it's the user's or approved. The judge is
// opened with the first file of the project.
import { type Stats, statSync } from 'node:fs';
import { SwitchboardError } from '../../base/errors.ts';
import { pathInside, realPathOf } from '../../base/paths.ts';
import { readOpenedFile, readTextFile } from '../../base/read-text.ts';
import { codeOf } from '../../base/system-error.ts';
import type {
  BasisText,
  FileOrigin,
  Judge,
  OpenJudge,
  Subject,
  TrustSettings,
  Verdict,
} from '../judge.ts';
import type { Folders } from './places.ts';

export type GatedText =
  | (BasisText & {
      /** Undefined if the file isn't the project's. */
      readonly origin: Subject['origin'] | undefined;
    })
  | { readonly problem: string; readonly isMissing: boolean };

interface ReadOptions {
  readonly maxBytes?: number;
  /** A project's file names this one, wherever it is. */
  readonly isNamed?: boolean;
  /** Folders it has to be in, once links are followed. */
  readonly within?: readonly string[];
}

/** A file that is replaced again and again counts as foreign. */
const MOST_READS = 5;

const REFUSED = {
  problem:
    'It or its folder belongs to another user or is writable by everyone. Fix its owner or permissions, or add the folder to trust.directories in your own configuration.',
  isMissing: false,
};

const OUTSIDE = { problem: 'It points outside the folders it must be in.', isMissing: false };

export class Gate {
  readonly #open: OpenJudge | undefined;
  readonly #settings: TrustSettings;
  readonly #folders: Folders;
  readonly #named: string[] = [];
  /** Until the judge is opened. */
  readonly #expected: string[] = [];
  #judge: Promise<Judge> | undefined;
  #opened: Judge | undefined;

  /** Without a judge, everything is trusted. */
  constructor(open: OpenJudge | undefined, settings: TrustSettings, folders: Folders) {
    this.#open = settings.mode === 'all' ? undefined : open;
    this.#settings = settings;
    this.#folders = folders;
  }

  /** The judge, once a file of the project was read. */
  get judge(): Judge | undefined {
    return this.#opened;
  }

  /** Whether nothing is judged, because the user trusts every project. */
  get trustsAll(): boolean {
    return this.#settings.mode === 'all';
  }

  /** Whether hosts may ask the user to approve pending items. */
  get asksHosts(): boolean {
    return this.#settings.elicitation !== false;
  }

  /** Folders that a file of the project names: what is in them counts as the project's. */
  addFolders(folders: readonly string[]): void {
    this.#named.push(...folders);
  }

  /** These files will be read next. */
  expect(files: readonly string[]): void {
    if (this.#opened) this.#opened.expect?.(files);
    else this.#expected.push(...files);
  }

  /** Whether the file is the project's, so that it has to be judged. */
  covers(file: string): boolean {
    return this.#isProjects(file, this.#isInNamed(file));
  }

  async read(file: string, { maxBytes, within, ...options }: ReadOptions = {}): Promise<GatedText> {
    const isNamed = options.isNamed === true || this.#isInNamed(file);
    const isProjects = this.#isProjects(file, isNamed);
    if (!isProjects && !within) {
      const read = readTextFile(file, maxBytes);
      return 'problem' in read ? read : { ...read, origin: undefined };
    }
    for (let reads = 1; ; reads++) {
      const read = readOpenedFile(file, maxBytes);
      if ('problem' in read) return read;
      if (within && !isFileIn(within, file, read.stats)) return OUTSIDE;
      const { text, stamp } = read;
      if (!isProjects) return { text, origin: undefined, stamp };
      const origin = (await this.#judged()).originOf(file, read, isNamed);
      if (origin === 'refused') return REFUSED;
      // Another program has just saved it: what was read counts as foreign, and the new file may be the user's.
      if (origin === 'foreign' && reads < MOST_READS && isReplaced(file, read.stats)) continue;
      return { text, origin: origin === 'user' ? undefined : origin, stamp };
    }
  }

  /** Opens the judge for `originOf`. */
  async open(): Promise<void> {
    if (this.#open) await this.#judged();
  }

  /** Where a program comes from that was found because of the project. */
  originOf(program: string): FileOrigin {
    if (!this.#isProjects(program, true)) return 'user';
    const stats = statSync(program, { throwIfNoEntry: false });
    return (stats && this.#opened?.originOf(program, { stats }, true)) ?? 'foreign';
  }

  /** Whether the project itself may have come with a repository. */
  async isForeignProject(): Promise<boolean> {
    const { project, homeFolder } = this.#folders;
    if (!this.#open || project === homeFolder) return false;
    return (await this.#judged()).isForeignFolder(project);
  }

  /** `read` has to come first. */
  decide(subject: Subject): Verdict {
    return this.#afterReading().decide(subject);
  }

  /** Whether the user has approved it with its rights shown. `read` has to come first. */
  grants(subject: Subject): boolean {
    return this.#afterReading().grants(subject);
  }

  #afterReading(): Judge {
    if (!this.#opened) throw new Error('Nothing was read.');
    return this.#opened;
  }

  #isInNamed(file: string): boolean {
    return this.#named.some((folder) => pathInside(folder, file) !== undefined);
  }

  #isProjects(file: string, isNamed: boolean): boolean {
    const { project, home, homeFolder } = this.#folders;
    if (this.#open === undefined || project === homeFolder) return false;
    return (
      (isNamed || pathInside(project, file) !== undefined) && pathInside(home, file) === undefined
    );
  }

  async #judged(): Promise<Judge> {
    if (!this.#open) throw new Error('There is no judge.');
    this.#judge ??= this.#open(this.#settings, this.#folders);
    if (this.#opened) return this.#opened;
    this.#opened = await this.#judge;
    this.#opened.expect?.(this.#expected);
    return this.#opened;
  }
}

/** Whether the file is ignored because another user can change it. */
export function isUnusable(read: GatedText): boolean {
  return read === REFUSED;
}

/** Whether the project, which may have come with a repository, has something in the file's place that can't be read. */
export async function isForeignUnread(file: string, read: GatedText, gate: Gate): Promise<boolean> {
  return 'problem' in read && gate.covers(file) && (await gate.isForeignProject());
}

/** Whether a link points to a file that `within` doesn't permit. */
export function isOutside(read: GatedText): boolean {
  return read === OUTSIDE;
}

function isReplaced(file: string, { dev, ino }: Stats): boolean {
  try {
    const now = statSync(file, { throwIfNoEntry: false });
    return now !== undefined && (now.dev !== dev || now.ino !== ino);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return false; // it can't be reached anymore
  }
}

/** `stats` are those of the file that was opened: the path may point to another one now. */
function isFileIn(folders: readonly string[], file: string, { dev, ino }: Stats): boolean {
  const real = realPathOf(file);
  const now = statSync(real, { throwIfNoEntry: false });
  const isSame = now?.dev === dev && now.ino === ino;
  return isSame && folders.some((folder) => pathInside(realPathOf(folder), real) !== undefined);
}

/** For a file that isn't approved and can't be read either. None of its text is repeated. */
export function ignoredFile(file: string, read: GatedText): string {
  if ('problem' in read) return `${file}: ${read.problem} The file is ignored.`;
  return `${file}: Ignored, because it is invalid and came with the project. To see why, run: switchboard config check --trust all`;
}

/** For stderr, once per start. */
export function describeWaiting(count: number): string {
  const what = count === 1 ? 'One part' : `${count} parts`;
  const verb = count === 1 ? 'needs' : 'need';
  return `${what} of this project's configuration ${verb} your approval. Run: switchboard trust`;
}

/** The error for something that is pending. */
export function needsApproval(child?: string): SwitchboardError {
  return new SwitchboardError('APPROVAL_NEEDED', 'Waiting for approval.', {
    hint: 'Run: switchboard trust',
    data: child === undefined ? {} : { child },
  });
}
