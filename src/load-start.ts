// The first file of the built program. It refuses a Node that is too old, and runs what every start
// needs: one script, together with what V8 compiled of it in an earlier run. Compiling it takes a
// large part of the time until the first answer, and Node 20 has no cache of its own for that.
//
// An old Node has to be able to parse this file, so it is written in ES5, without imports and
// exports. The build fails on anything newer.
import type { Stats } from 'node:fs';

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

/** Put in by the build: the script's name, and the oldest Node that can run it, as `20.19`. */
declare var __START__: string;
declare var __OLDEST_NODE__: string;

var SUM_BYTES = 4;

// Node 21 and the first versions of 22 are newer, and lack what 20.19 has.
if (isTooOld(process.versions.node, __OLDEST_NODE__) || !process.getBuiltinModule) {
  require('fs').writeSync(
    2,
    'switchboard: Node.js ' +
      __OLDEST_NODE__ +
      ', 22.3 or later is required. This is ' +
      process.versions.node +
      ' (' +
      process.execPath +
      ').\nInstall a newer version from https://nodejs.org, or write its path as the command.\n',
  );
  process.exit(2);
}

module.exports = loadStart();

function isTooOld(version: string, oldest: string): boolean {
  var has = version.split('.');
  var needs = oldest.split('.');
  var major = Number(has[0]) - Number(needs[0]);
  return major < 0 || (major === 0 && Number(has[1]) < Number(needs[1]));
}

/** What the script exports. */
function loadStart(): Record<string, unknown> {
  // Not required: that has Node look at every export of its module, and load what it has put off.
  var fs = process.getBuiltinModule('fs');
  var vm = process.getBuiltinModule('vm');
  var folder = __dirname + '/chunks';
  var file = folder + '/' + __START__;
  // Beside the program, so that it goes when the program goes.
  var compiledFile = file + '.' + process.versions.v8 + '-' + process.arch;
  // Nothing is kept where somebody else could put something in its place.
  var isKept = isOurs(fs.statSync(folder));
  var cachedData = isKept ? readCompiled(compiledFile) : undefined;
  var script = new vm.Script(fs.readFileSync(file, 'latin1'), {
    filename: file,
    cachedData: cachedData,
  });
  var isSaved = cachedData !== undefined && script.cachedDataRejected !== true;
  var unsaved = {
    file: compiledFile,
    make: function () {
      return withSum(script.createCachedData());
    },
  };
  var start = script.runInThisContext() as Start;
  return start(require, load, isSaved || !isKept ? undefined : unsaved);
}

/** In a file of its own: an old Node can't parse `import()`. */
function load(specifier: string): Promise<unknown> {
  return require(__dirname + '/chunks/import.cjs')(specifier) as Promise<unknown>;
}

/** V8 looks at the version and the length of what it is given; a wrong byte further in would crash it. */
function readCompiled(file: string): Buffer | undefined {
  var fs = process.getBuiltinModule('fs');
  var content: Buffer;
  try {
    var descriptor = fs.openSync(file, 'r');
    try {
      if (!isOurs(fs.fstatSync(descriptor))) return undefined;
      content = fs.readFileSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch {
    return undefined; // the first start, or a folder that nobody may write to
  }
  var data = content.subarray(0, -SUM_BYTES);
  var isWhole =
    data.length > 0 &&
    process.getBuiltinModule('zlib').crc32(data) === content.readUInt32LE(data.length);
  return isWhole ? data : undefined;
}

/** Only this user and the administrator can have written it: it is run as code. */
function isOurs(stats: Stats): boolean {
  if (!process.getuid) return true; // Windows
  var uid = process.getuid();
  // Many systems give each user a group of the same number, for that user alone.
  var others = stats.gid === uid && uid !== 0 ? 2 : 18; // o+w, or g+w and o+w
  return (stats.uid === uid || stats.uid === 0) && (stats.mode & others) === 0;
}

function withSum(data: Buffer): Buffer {
  var sum = Buffer.alloc(SUM_BYTES);
  sum.writeUInt32LE(process.getBuiltinModule('zlib').crc32(data), 0);
  return Buffer.concat([data, sum]);
}
