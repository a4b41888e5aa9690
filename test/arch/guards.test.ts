// Servers, hosts and the network must not be able to end the process, so every callback that runs because
// of them is guarded (base/guard.ts). This finds callbacks that are passed to Node without a guard.
import { readdirSync, readFileSync } from 'node:fs';
import { join, posix, sep } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/project.ts';

/** Commands and entries may crash: the user sees it, and nothing else depends on them. Three files of theirs are shared. */
const MAY_CRASH =
  /^(?:cli\/|entry\/|background\/(?:join|start|use-servers)\.ts|index\.ts|assistant-entry\.ts|load-start\.ts)/;

/** Calls that take a callback, up to the callback. `process` only emits what concerns us. */
const EVENT =
  /(?<!\bprocess)\.(?:on|once|addListener|prependListener|addEventListener)\(\s*[^,()]*'[\w-]+',\s*/g;
const TIMER =
  /\b(?:setTimeout|setInterval|setImmediate|nextTick|queueMicrotask|createServer)\((?!\{)\s*/g;

/** Callbacks that are guarded, or do one thing that cannot throw. */
const HARMLESS = [
  /^guard\(/,
  /^(?:resolve|reject)\b/,
  /^\(\w*\) => guard\(/,
  /^\(\) => \{\}/,
  /^\([^()]*\)(?:: void)? =>\s*(?:void )?(?:resolve|reject|clearTimeout|clearInterval|signalGroup)\(/,
  /^\(\)(?:: void)? => (?:void )?[\w.#?]+\.(?:abort|cancel|closeAllConnections|delete|destroy|removeEventListener|resume|unlisten)\(/,
  /^\(\) => void \w+\(\)\.catch\(/,
  /^\(error\) => log\.\w+\(/,
];

/** Other safe callbacks, by file and how they begin. */
const EXCEPTIONS: Readonly<Record<string, readonly string[]>> = {
  'child/remote/wire.ts': ['done'], // settles a promise
  'child/sign-in/safe-fetch.ts': ['callback'], // Node's own
  // They tell the host something through a Peer, which reports what it cannot send.
  'session/list-changes.ts': ['tell', 'wake'],
  'session/subscriptions.ts': ['() => {\n      this.#timers.delete(kind)'],
  'calls/starting.ts': ['report'],
  'surface/agent-tools.ts': ['() => this.#keepAlive()', '() => this.#catchUp()'],
  'session/parking.ts': ['() => {\n      this.#calls.delete(handle)'], // rejects and cancels
};

const SOURCE = join(ROOT, 'src');
const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .map((file) => file.split(sep).join(posix.sep))
  .filter((file) => file.endsWith('.ts') && !MAY_CRASH.test(file));

/** The unguarded callbacks in a source text that might throw, with their line numbers. */
function findUnguarded(text: string, exceptions: readonly string[] = []): string[] {
  return [EVENT, TIMER].flatMap((place) =>
    [...text.matchAll(place)].flatMap(({ index, 0: found }) => {
      const callback = text.slice(index + found.length);
      const isException = exceptions.some((exception) => callback.startsWith(exception));
      if (isException || isHarmless(callback) || isHarmless(definitionOf(callback, text))) {
        return [];
      }
      const line = text.slice(0, index).split('\n').length;
      return [`${line}: ${found}${callback.split('\n')[0]}`];
    }),
  );
}

function isHarmless(callback: string): boolean {
  return HARMLESS.some((form) => form.test(callback));
}

/** The definition of a callback that is passed by name. */
function definitionOf(callback: string, text: string): string {
  const name = /^(?:this\.)?(#?\w+)[,)]/.exec(callback)?.[1];
  if (name === undefined) return '';
  const found = new RegExp(`(?:const |readonly |this\\.)${name}(?:: [^=]+)? = `).exec(text);
  return found ? text.slice(found.index + found[0].length) : '';
}

test('callbacks passed to Node are guarded', () => {
  const unguarded = files.flatMap((file) => {
    const text = readFileSync(join(SOURCE, file), 'utf8');
    return findUnguarded(text, EXCEPTIONS[file]).map((found) => `${file}:${found}`);
  });
  expect(unguarded).toEqual([]);
});

test.each([
  ["socket.on('data', (chunk) => framer.push(chunk));"],
  ["socket.once('close', closed);"],
  ["const closed = () => fail();\nsocket.once('close', closed);"],
  ["socket\n  .setEncoding('utf8')\n  .on('data', (text) => take(text));"],
  ["socket.once(isTls ? 'secureConnect' : 'connect', () => this.#open());"],
  ["signal.addEventListener('abort', () => this.#end());"],
  ['setTimeout(() => this.#end(), 10);'],
  ['createServer((request, response) => serve(request, response));'],
])('an unguarded callback is found: %s', (text) => {
  expect(findUnguarded(text)).toHaveLength(1);
});

test.each(Object.entries(EXCEPTIONS))('every exception for %s is needed', (file, exceptions) => {
  const text = readFileSync(join(SOURCE, file), 'utf8');
  for (const exception of exceptions) {
    const others = exceptions.filter((other) => other !== exception);
    expect(findUnguarded(text, others)).not.toEqual([]);
  }
});
