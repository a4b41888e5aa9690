// Runs what every start of the built program needs: one script, together with what V8 has made of it in an
// earlier run. Compiling it anew takes a large part of the time until the first answer, and Node 20 has
// no cache of its own for that. The build puts this into the program's first file.

/** A compiled form that is not on disk yet. */
export interface UnsavedStart {
  readonly file: string;
  /** With what has been compiled until now. */
  readonly make: () => Uint8Array;
}

/** The script is the text of a function: what it lacks as a script is handed in. */
type Start = (
  require: NodeJS.Require,
  load: (specifier: string) => Promise<unknown>,
  unsaved: UnsavedStart | undefined,
) => Record<string, unknown>;

// Not imported: that has Node look at everything a module of its own has, and load what it has put off.
const { readFileSync } = process.getBuiltinModule('fs');
const { createRequire } = process.getBuiltinModule('module');
const { fileURLToPath } = process.getBuiltinModule('url');
const { Script } = process.getBuiltinModule('vm');
const { crc32 } = process.getBuiltinModule('zlib');

const SUM_BYTES = 4;

/** Gives what the script exports. */
export function loadStart(url: URL): Record<string, unknown> {
  const file = fileURLToPath(url);
  // Beside the program: who may change that may change this, and it goes when the program goes.
  const compiledFile = `${file}.${process.versions.v8}-${process.arch}`;
  const cachedData = readCompiled(compiledFile);
  const script = new Script(readFileSync(file, 'latin1'), { filename: file, cachedData });
  const isSaved = cachedData !== undefined && script.cachedDataRejected !== true;
  const unsaved = { file: compiledFile, make: () => withSum(script.createCachedData()) };
  const start = script.runInThisContext() as Start;
  const load = (specifier: string): Promise<unknown> => import(new URL(specifier, url).href);
  return start(createRequire(url), load, isSaved ? undefined : unsaved);
}

/** V8 looks at the version and the length of what it is given; a wrong byte further in would crash it. */
function readCompiled(file: string): Buffer | undefined {
  let content: Buffer;
  try {
    content = readFileSync(file);
  } catch {
    return undefined; // the first start, or a folder that nobody may write to
  }
  const data = content.subarray(0, -SUM_BYTES);
  const isWhole = data.length > 0 && crc32(data) === content.readUInt32LE(data.length);
  return isWhole ? data : undefined;
}

function withSum(data: Buffer): Buffer {
  const sum = Buffer.alloc(SUM_BYTES);
  sum.writeUInt32LE(crc32(data));
  return Buffer.concat([data, sum]);
}
