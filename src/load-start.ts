// The first file of the built program. It refuses to run on an outdated Node, and runs one of two scripts: the entry
// (src/entry), which joins the background process, or the start script, which does everything else. A third one has
// the background process's modules, which other chunks may also need. All run from the code that V8 compiled in an
// earlier run. Compiling takes much of the time until the first response, and Node 20 has no cache for it.
//
// An outdated Node must be able to parse this file, so it's ES5 without imports and exports. The build fails on
// anything newer.
import type { Stats } from 'node:fs';

/** A compiled script that isn't on disk yet. */
export interface UnsavedStart {
  readonly file: string;
  /** Includes everything compiled so far. */
  readonly make: () => Uint8Array;
}

/** A script is a function expression that takes as arguments what a module would have in scope. */
type Script = (
  require: unknown,
  load: (specifier: string) => Promise<unknown>,
  unsaved: UnsavedStart | undefined,
  start: unknown,
) => Exports;

/** Functions that return the values. */
type Exports = Record<string, unknown>;

/** Set by the build: the scripts' names, and the oldest Node that can run them, such as `20.19`. */
declare var __START__: string;
declare var __ENTRY__: string;
declare var __BACKGROUND__: string;
/** The module that the background script replaces. */
declare var __BACKGROUND_CHUNK__: string;
declare var __OLDEST_NODE__: string;
/** Added by the build: the code of src/index.ts. */
declare function runIndex(given: unknown): void;

// Node 21 and early versions of 22 are newer than 20.19 but lack features it has.
if (isTooOld(process.versions.node, __OLDEST_NODE__) || !process.getBuiltinModule) {
  require('fs').writeSync(
    2,
    'switchboard: Node.js ' +
      __OLDEST_NODE__ +
      ', 22.3 or later is required. This is ' +
      process.versions.node +
      ' (' +
      process.execPath +
      ').\nInstall a newer version from https://nodejs.org, or use its full path as the command.\n',
  );
  process.exit(2);
}

if (isSession(process.argv[2]) || isToolServer(process.argv)) {
  var exported = loadScript(__ENTRY__, getBuiltin, undefined);
  var enter = (exported['enter'] as () => (entry: object) => void)();
  enter({ program: __filename, build: __START__, loadRest: runRest });
} else {
  runRest(undefined);
}

/** `require` would make Node look at every export of its modules, and load the lazy ones. */
function getBuiltin(name: string): unknown {
  return process.getBuiltinModule(name);
}

/** Packages in the bundle may ask for something else. */
function requireAny(name: string): unknown {
  return getBuiltin(name) || require(name);
}

/** Other files get what they need from the scripts through this module's exports. */
function runRest(given: unknown): void {
  var start = loadScript(__START__, requireAny, undefined);
  start['./background'] = loadBackground;
  module.exports = start;
  runIndex(given);
}

var background: Exports | undefined;

function loadBackground(): Exports {
  if (!background) background = loadScript(__BACKGROUND__, requireAny, module.exports);
  return background;
}

/** Whether a host may have started us, for a session that can be shared. The entry looks more closely. */
function isSession(first: string | undefined): boolean {
  if (isOn(process.env['SWITCHBOARD_ALONE']) || process.argv.indexOf('--alone') !== -1)
    return false;
  return first === undefined || first === 'serve' || first.charAt(0) === '-';
}

function isOn(text: string | undefined): boolean {
  return ['', '0', 'false', 'no', 'off'].indexOf((text || '').trim().toLowerCase()) === -1;
}

/** Whether a session's assistant has us started, to use a server that others may share. */
function isToolServer(args: string[]): boolean {
  return args[2] === 'assistant' && args.indexOf('--shared') !== -1;
}

function isTooOld(version: string, oldest: string): boolean {
  var has = version.split('.');
  var needs = oldest.split('.');
  var major = Number(has[0]) - Number(needs[0]);
  return major < 0 || (major === 0 && Number(has[1]) < Number(needs[1]));
}

/** Returns the script's exports. */
function loadScript(name: string, requires: unknown, start: unknown): Exports {
  // `require` would make Node look at every export of the module, and load the lazy ones.
  var fs = process.getBuiltinModule('fs');
  var vm = process.getBuiltinModule('vm');
  var folder = __dirname + '/chunks';
  var file = folder + '/' + name;
  // Next to the program, so that uninstalling removes it.
  var compiledFile = file + '.' + process.versions.v8 + '-' + process.arch;
  // Never stored in a folder where another user could replace it.
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
      var data = script.createCachedData();
      return Buffer.concat([data, data]);
    },
  };
  var run = script.runInThisContext() as Script;
  return run(requires, load, isSaved || !isKept ? undefined : unsaved, start);
}

/** In its own file: an outdated Node can't parse `import()`. */
function load(specifier: string): Promise<unknown> {
  if (specifier === __BACKGROUND_CHUNK__) return Promise.resolve(toModule(loadBackground()));
  return require(__dirname + '/chunks/import.cjs')(specifier) as Promise<unknown>;
}

function toModule(exported: Exports): Record<string, unknown> {
  var values: Record<string, unknown> = {};
  for (var name in exported) values[name] = (exported[name] as () => unknown)();
  return values;
}

/**
 * V8 checks only the version and the length of the data. A wrong byte further in would crash it, so it's stored twice
 * and compared: a checksum would have to load zlib, which takes longer than reading it again.
 */
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
    return undefined; // the first start, or a read-only folder
  }
  var data = content.subarray(0, content.length / 2);
  var isWhole = data.length > 0 && data.equals(content.subarray(data.length));
  return isWhole ? data : undefined;
}

/** Whether only this user or the administrator can have written it, because it's run as code. */
function isOurs(stats: Stats): boolean {
  if (!process.getuid) return true; // Windows
  var uid = process.getuid();
  // Many systems give each user a private group with the same number.
  var others = stats.gid === uid && uid !== 0 ? 2 : 18; // o+w, or g+w and o+w
  return (stats.uid === uid || stats.uid === 0) && (stats.mode & others) === 0;
}
