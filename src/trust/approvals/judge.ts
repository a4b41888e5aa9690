// Judges a project's files by where they come from, and what they contain by the user's decisions.
import { realpathSync, type Stats, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { DownloadMarks, type DownloadMarksOptions } from '../../base/download-marks.ts';
import { SwitchboardError } from '../../base/errors.ts';
import { isFolder } from '../../base/make-folder.ts';
import { currentUser, type FileUser, isOwnFile, ownershipProblem } from '../../base/ownership.ts';
import { pathInside, realPathOf } from '../../base/paths.ts';
import type { OpenedFile } from '../../base/read-text.ts';
import { codeOf, isSystemError } from '../../base/system-error.ts';
import type { ChildConfig } from '../../config/config.ts';
import type { Folders } from '../../config/files/places.ts';
import {
  type FileOrigin,
  isWaiting,
  type Judge,
  type JudgedSubject,
  type Subject,
  type TrustedPart,
  type TrustSettings,
  type Verdict,
} from '../../config/judge.ts';
import { wasUsedBefore } from './adopt.ts';
import { type Batch, Batches } from './batches.ts';
import { contentOf, hashOf } from './content.ts';
import { type Excerpt, keepExcerpt, readExcerpt } from './excerpt.ts';
import { Repositories } from './repositories.ts';
import {
  type DecidedBy,
  damaged,
  keyOf,
  readTrustStore,
  recordOf,
  type TrustRecord,
  type TrustStore,
  writeNoticed,
} from './store.ts';

export interface JudgeOptions {
  /** Whether the caller tells the user which files were trusted at first sight. */
  readonly announces?: boolean | undefined;
  /** Whether the caller needs everything that was judged, including what is known to be approved. */
  readonly lists?: boolean | undefined;
  /** Who runs this; by default, the process's user. */
  readonly user?: FileUser | undefined;
  /** By default, the system's. */
  readonly statOf?: ((path: string) => Stats | undefined) | undefined;
  /** How marks of downloaded files are found; by default, as on this system. */
  readonly marks?: Omit<DownloadMarksOptions, 'unmarked'> | undefined;
}

/** Ways to decide that show all that is approved. */
const SEEN_BY: ReadonlySet<DecidedBy> = new Set<DecidedBy>(['user', 'host']);

export class FileJudge implements Judge {
  readonly #settings: TrustSettings;
  readonly #folders: Folders;
  readonly #announces: boolean;
  readonly #isListing: boolean;
  readonly #user: FileUser;
  readonly #statOf: (path: string) => Stats | undefined;
  readonly #marks: DownloadMarks;
  readonly #batches = new Batches();
  readonly #repositories = new Repositories();
  /** Undefined if everything is needed from the start. */
  readonly #excerpt: Excerpt | undefined;
  #loaded: TrustStore | undefined;
  /** By kind, name and file; empty until the store is loaded. */
  readonly #known = new Map<string, TrustRecord[]>();
  /** What was found among the known batches. */
  readonly #found = new Set<string>();
  readonly #news = new Map<string, { readonly subject: Subject; readonly record: TrustRecord }>();
  /** The stamps of foreign files that were found just now, by path. */
  readonly #foreign = new Map<string, string>();
  readonly #outdated: string[] = [];
  readonly #safeFolders = new Map<string, boolean>();
  /** By hash. */
  readonly #judged = new Map<string, JudgedSubject>();
  readonly #trusted = new Set<string>();
  #scopes: readonly string[] | undefined;

  constructor(
    settings: TrustSettings,
    folders: Folders,
    {
      announces = false,
      lists = false,
      user = currentUser(),
      statOf = statIfThere,
      marks,
    }: JudgeOptions = {},
  ) {
    this.#settings = settings;
    this.#folders = folders;
    this.#announces = announces;
    this.#isListing = lists;
    this.#user = user;
    this.#statOf = statOf;
    const isUsual = settings.mode === 'repository' && !lists;
    this.#excerpt = isUsual ? readExcerpt(folders.home, folders.project) : undefined;
    const { unmarked } = this.#excerpt ?? this.#store;
    this.#marks = new DownloadMarks({ ...marks, unmarked });
  }

  /** All decisions: starts that find nothing new do without. */
  get #store(): TrustStore {
    if (this.#loaded) return this.#loaded;
    this.#loaded = readTrustStore(this.#folders.home);
    for (const record of this.#loaded.records.values()) this.#index(record);
    return this.#loaded;
  }

  get judged(): readonly JudgedSubject[] {
    return [...this.#judged.values()];
  }

  get waiting(): number {
    return this.judged.filter(({ verdict }) => isWaiting(verdict)).length;
  }

  get trusted(): readonly string[] {
    return [...this.#trusted];
  }

  get problem(): string | undefined {
    // An excerpt was taken from a store that could be read.
    if (this.#excerpt && !this.#loaded) return undefined;
    return this.#store.isDamaged ? damaged(this.#folders.home).text : undefined;
  }

  get newlyWaiting(): readonly JudgedSubject[] {
    if (!this.#announces) return [];
    return this.judged.filter(
      ({ verdict, hash }) => isWaiting(verdict) && !this.#store.announced.has(hash),
    );
  }

  originOf(file: string, { stats, stamp }: OpenedFile, isNamed = false): FileOrigin {
    const { mode, directories } = this.#settings;
    const { project, home, homeFolder } = this.#folders;
    const isProjects = isNamed || pathInside(project, file) !== undefined;
    if (!isProjects || pathInside(home, file) !== undefined || project === homeFolder)
      return 'user';
    if (mode === 'all') return 'user';
    const isListed = directories.some((folder) => pathInside(folder, file) !== undefined);
    const real = this.#realPathOf(file, stats);
    const paths = real === undefined || real === file ? [file] : [file, real];
    if (!isListed && !this.#areSafe(paths, stats)) return 'refused';
    if (mode === 'ask' || real === undefined) return 'foreign';
    // A file that came with a repository stays foreign until it changes.
    if (stamp !== undefined && this.#isKnownForeign(file, stamp)) return 'foreign';
    if (this.#areYours(paths, stats, isListed)) return 'yours';
    if (stamp !== undefined) this.#foreign.set(file, stamp);
    return 'foreign';
  }

  expect(files: readonly string[]): void {
    this.#marks.expect(files);
  }

  isForeignFolder(folder: string): boolean {
    const { mode } = this.#settings;
    if (mode !== 'repository') return mode === 'ask';
    const homes = [this.#folders.homeFolder, realPathOf(this.#folders.homeFolder)];
    return [folder, realPathOf(folder)].some((path) => this.#repositories.contains(path, homes));
  }

  decide(subject: Subject): Verdict {
    const batch = this.#batches.of(subject, () => this.#scopesOf()[0] ?? '');
    if (batch && this.#isKnown(batch)) return 'approved';
    const verdict = this.#decide(subject);
    if (batch) this.#batches.add(batch, verdict === 'approved');
    return verdict;
  }

  #isKnown(batch: Batch): boolean {
    if (this.#isListing || this.#settings.mode !== 'repository') return false;
    const { stamp } = batch;
    if (stamp !== undefined && this.#finds(stamp)) return true;
    if (!this.#finds(batch.hash)) return false;
    this.#batches.add(batch, true); // next time, its stamp will do
    return true;
  }

  #finds(batch: string): boolean {
    const isFound = this.#excerpt?.batches.has(batch) || this.#store.batches.has(batch);
    if (isFound) this.#found.add(batch);
    return isFound;
  }

  #isKnownForeign(file: string, stamp: string): boolean {
    const { project } = this.#folders;
    const isExcerpted = this.#excerpt && pathInside(project, file) !== undefined;
    const { foreign } = (isExcerpted ? this.#excerpt : undefined) ?? this.#store;
    return foreign.get(file) === stamp;
  }

  grants(subject: Subject): boolean {
    const content = contentOf(subject, this.#folders.project);
    return this.#hasSeen(subject, this.#hashesOf(subject, content));
  }

  #decide(subject: Subject): Verdict {
    const content = contentOf(subject, this.#folders.project);
    const hashes = this.#hashesOf(subject, content);
    const [hash = ''] = hashes;
    const verdict = this.#verdictOn(subject, hashes);
    const isLimited = verdict === 'approved' && !this.#hasSeen(subject, hashes);
    this.#judged.set(hash, { subject, content, hash, verdict, isLimited });
    return verdict;
  }

  #hashesOf(subject: Subject, content: object): string[] {
    return this.#scopesOf().map((scope) => hashOf(subject, content, scope));
  }

  /** Whether the user has approved it and was shown all its rights. */
  #hasSeen({ rights = [] }: Subject, hashes: readonly string[]): boolean {
    const approved = hashes.flatMap((hash) => this.#store.records.get(hash) ?? []);
    return (
      rights.length === 0 ||
      approved.some(
        ({ decision, by, rights: seen }) =>
          decision === 'approved' && SEEN_BY.has(by) && rights.every((one) => seen?.includes(one)),
      )
    );
  }

  save(): readonly TrustedPart[] {
    const waiting = this.newlyWaiting.map(({ hash }) => hash);
    const announced = this.#announces ? [...this.trusted, ...waiting] : [];
    const batches = this.#batches.approved().filter((batch) => !this.#store.batches.has(batch));
    const unmarked = this.#marks.news;
    const foreign = this.#foreign;
    const found = [this.#news.size, announced.length, batches.length, unmarked.size, foreign.size];
    if (found.every((count) => count === 0)) {
      this.#keepExcerpt();
      return [];
    }
    const { home } = this.#folders;
    // A command that only looks creates no folder.
    if (!this.#announces && !isFolder(home)) return [];
    const news = [...this.#news];
    const add = new Map(news.map(([hash, { record }]) => [hash, record]));
    try {
      const change = { add, remove: this.#outdated, announced, batches, unmarked, foreign };
      writeNoticed(home, change, this.#store);
    } catch (error) {
      // Without a record, it's trusted at first sight again next time.
      if (!isSystemError(error) && !(error instanceof SwitchboardError)) throw error;
    }
    this.#news.clear();
    foreign.clear();
    return news.map(([hash, { subject, record }]) => ({ subject, hash, by: record.by }));
  }

  /** If the store had to be read, the next start can do with less. */
  #keepExcerpt(): void {
    const { home, project } = this.#folders;
    const before = this.#excerpt?.batches ?? new Set<string>();
    const all = new Set([...before, ...this.#found]);
    const isNew = !this.#excerpt || all.size > before.size;
    const isUsual = this.#settings.mode === 'repository' && !this.#isListing;
    if (this.#loaded && isNew && isUsual) keepExcerpt(home, project, this.#loaded, [...all]);
  }

  #verdictOn(subject: Subject, hashes: readonly string[]): Verdict {
    const decided = hashes.flatMap((hash) => this.#store.records.get(hash) ?? []);
    const related = this.#known.get(keyOf(subject)) ?? [];
    const isDenied = [...decided, ...related].some(({ decision }) => decision === 'denied');
    if (isDenied) return 'denied';
    if (decided.some((record) => this.#counts(record))) return 'approved';
    const isRevoked = decided.some(({ decision }) => decision === 'revoked');
    const by = isRevoked ? undefined : this.#trustsAnyway(subject, related);
    const [hash = ''] = hashes;
    if (by !== undefined) {
      this.#remember(subject, hash, by);
      return 'approved';
    }
    return related.some((record) => this.#counts(record)) ? 'changed' : 'pending';
  }

  /** If everything needs approval, first-sight trust doesn't count. */
  #counts({ decision, by }: TrustRecord): boolean {
    const isUsers = by !== 'first-sight' && by !== 'program';
    return decision === 'approved' && (isUsers || this.#settings.mode !== 'ask');
  }

  /**
   * Without the user's decision: a file made here, a server that was used before there were approvals, or one that the
   * user has accepted in the program it was declared for. That program may not notice changes, so only the first
   * content counts.
   */
  #trustsAnyway(subject: Subject, related: readonly TrustRecord[]): DecidedBy | undefined {
    const { kind, file, origin, content, touches, needsDecision = false } = subject;
    // The user's denials can't be read either.
    if (needsDecision || touches || this.#store.isDamaged) return undefined;
    if (origin === 'yours') {
      if (this.#announces && !this.#store.announced.has(file)) this.#trusted.add(file);
      return 'first-sight';
    }
    if (subject.isConsented && related.length === 0 && this.#settings.mode === 'repository')
      return 'program';
    const isCandidate = kind === 'server' && related.length === 0;
    if (!isCandidate || this.#settings.mode !== 'repository') return undefined;
    const { home } = this.#folders;
    const isAdopted = wasUsedBefore(content() as ChildConfig, home, this.#store.since);
    return isAdopted ? 'update' : undefined;
  }

  #remember(subject: Subject, hash: string, by: DecidedBy): void {
    const record = recordOf(subject, 'approved', by);
    this.#news.set(hash, { subject, record });
    for (const [before, known] of this.#store.records) {
      if (known.by === 'first-sight' && keyOf(known) === keyOf(record)) this.#outdated.push(before);
    }
  }

  #index(record: TrustRecord): void {
    const key = keyOf(record);
    const known = this.#known.get(key);
    if (known) known.push(record);
    else this.#known.set(key, [record]);
  }

  /** From the file up to the project, or only its own folder if it's elsewhere. A link has two places. */
  #areSafe(paths: readonly string[], stats: Stats): boolean {
    const isSafe = ownershipProblem(stats, this.#user) === undefined;
    return isSafe && paths.every((path) => this.#isSafeFolder(dirname(path)));
  }

  #isSafeFolder(folder: string): boolean {
    const known = this.#safeFolders.get(folder);
    if (known !== undefined) return known;
    const { project } = this.#folders;
    const stats = this.#statOf(folder);
    const isOwn = stats !== undefined && ownershipProblem(stats, this.#user) === undefined;
    const isBelow = pathInside(project, folder) !== undefined;
    const isSafe = isOwn && (!isBelow || this.#isSafeFolder(dirname(folder)));
    this.#safeFolders.set(folder, isSafe);
    return isSafe;
  }

  #areYours(paths: readonly string[], stats: Stats, isListed: boolean): boolean {
    if (!isListed && !isOwnFile(stats, this.#user)) return false;
    if (paths.some((path) => this.#repositories.tracks(path, stats))) return false;
    return !this.#marks.has(paths[0] ?? '', stats);
  }

  /** Undefined if the path no longer points to the file that was opened. */
  #realPathOf(file: string, { dev, ino }: Stats): string | undefined {
    try {
      const real = realpathSync.native(file);
      const now = statSync(real);
      return now.dev === dev && now.ino === ino ? real : undefined;
    } catch (error) {
      if (codeOf(error) === undefined) throw error;
      return undefined; // it's gone
    }
  }

  /** The repository comes first. A folder's approvals stay valid when it becomes a repository. */
  #scopesOf(): readonly string[] {
    const { project } = this.#folders;
    if (this.#scopes) return this.#scopes;
    const folder = realPathOf(project);
    const repository = this.#repositories.nameOf(project);
    this.#scopes = repository === undefined ? [folder] : [repository, folder];
    return this.#scopes;
  }
}

function statIfThere(path: string): Stats | undefined {
  return statSync(path, { throwIfNoEntry: false });
}
