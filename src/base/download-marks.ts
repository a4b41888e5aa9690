// Whether a file was downloaded, as the system marks it: on Windows with a stream beside it, on macOS with an extended
// attribute. Node can't read those, so a program of the system does, once for many files.
import { existsSync, type Stats, statSync } from 'node:fs';
import { PLATFORM } from './process.ts';

export interface DownloadMarksOptions {
  readonly platform?: NodeJS.Platform | undefined;
  /** Lists the extended attributes of files. */
  readonly xattr?: string | undefined;
  /** The stamps of files that had no mark, by path. Setting a mark changes the stamp. */
  readonly unmarked?: ReadonlyMap<string, string> | undefined;
}

const QUARANTINE = 'com.apple.quarantine';
const LIMIT_MS = 5_000;
const MOST_FILES = 500;

export class DownloadMarks {
  readonly #platform: NodeJS.Platform;
  readonly #xattr: string;
  readonly #before: ReadonlyMap<string, string>;
  readonly #expected = new Set<string>();
  readonly #news = new Map<string, string>();

  constructor({
    platform = PLATFORM,
    xattr = '/usr/bin/xattr',
    unmarked = new Map(),
  }: DownloadMarksOptions = {}) {
    this.#platform = platform;
    this.#xattr = xattr;
    this.#before = unmarked;
  }

  /** The stamps of files that were found to have no mark. */
  get news(): ReadonlyMap<string, string> {
    return this.#news;
  }

  /** These will be asked about next, so that one run of the program is enough. */
  expect(files: readonly string[]): void {
    if (this.#platform !== 'darwin') return;
    for (const file of files) this.#expected.add(file);
  }

  /** Also if that can't be found out. */
  has(file: string, stats: Stats): boolean {
    if (this.#platform === 'win32') return existsSync(`${file}:Zone.Identifier`);
    if (this.#platform !== 'darwin') return false;
    if (!this.#isUnmarked(file, stats)) this.#look(file, stats);
    return !this.#isUnmarked(file, stats);
  }

  #isUnmarked(file: string, stats: Stats): boolean {
    return (this.#news.get(file) ?? this.#before.get(file)) === stampOf(stats);
  }

  #look(file: string, stats: Stats): void {
    const stamps = new Map([[file, stampOf(stats)]]);
    for (const other of this.#expected) {
      if (stamps.size >= MOST_FILES) break;
      const found = statSync(other, { throwIfNoEntry: false });
      if (found?.isFile() && !this.#isUnmarked(other, found)) stamps.set(other, stampOf(found));
    }
    this.#expected.clear();
    const unmarked = this.#listUnmarked([...stamps.keys()]) ?? this.#listUnmarked([file]) ?? [];
    for (const one of unmarked) this.#news.set(one, stamps.get(one) ?? '');
  }

  /** Undefined if the program failed, such as for a file that has just been removed. */
  #listUnmarked(files: readonly string[]): readonly string[] | undefined {
    const { spawnSync } = process.getBuiltinModule('node:child_process');
    const { status, stdout } = spawnSync(this.#xattr, ['-v', ...files], {
      stdio: ['ignore', 'pipe', 'ignore'],
      encoding: 'utf8',
      timeout: LIMIT_MS,
      env: {},
    });
    if (status !== 0) return undefined;
    const marks = stdout.split('\n').filter((line) => line.endsWith(QUARANTINE)).length;
    const isMarked = (file: string) => `\n${stdout}`.includes(`\n${file}: ${QUARANTINE}\n`);
    const unmarked = files.filter((file) => !isMarked(file));
    // If it isn't clear which files have marks, all might.
    return files.length - unmarked.length === marks ? unmarked : [];
  }
}

/** Changes with the content and with the attributes. */
function stampOf({ dev, ino, size, ctimeMs }: Stats): string {
  return [dev, ino, size, ctimeMs].join('/');
}
