// What is told of a program that crashed, from what programs were seen to print.
import { expect, test } from 'vitest';
import { crashReason } from '../../../../src/agents/codex/crash-reason.ts';

test.each<[string, string, string]>([
  [
    'a panic in Rust',
    `thread 'main' (12) panicked at codex-rs/core/src/lib.rs:10:5:
called \`Option::unwrap()\` on a \`None\` value
stack backtrace:
   0: std::panicking::begin_panic
             at /rustc/abc/library/std/src/panicking.rs:600:5
   1: codex::main
note: run with \`RUST_BACKTRACE=1\` environment variable to display a backtrace`,
    'called `Option::unwrap()` on a `None` value',
  ],
  [
    'a panic in an older Rust',
    "thread 'main' panicked at 'index out of bounds', src/main.rs:2:5\nnote: run with `RUST_BACKTRACE=1`",
    'index out of bounds',
  ],
  [
    'an error with a cause',
    'Error: failed to read the catalog\n\nCaused by:\n    0: No such file or directory (os error 2)\n    1: more',
    'Error: failed to read the catalog: No such file or directory (os error 2)',
  ],
  [
    'an exception in Node',
    `node:internal/modules/cjs/loader:1228
  throw err;
  ^

Error: Cannot find module '/opt/codex/lib.js'
Require stack:
- /opt/codex/bin/codex.js
    at Module._resolveFilename (node:internal/modules/cjs/loader:1225:15)
    at node:internal/main/run_main_module:28:49 {
  code: 'MODULE_NOT_FOUND',
  requireStack: [ '/opt/codex/bin/codex.js' ]
}

Node.js v20.20.0`,
    "Error: Cannot find module '/opt/codex/lib.js'",
  ],
  [
    'an exception in a file of one’s own',
    `file:///opt/codex.mjs:3
throw new TypeError('boom');
      ^

TypeError: boom
    at file:///opt/codex.mjs:3:7

Node.js v20.20.0`,
    'TypeError: boom',
  ],
  [
    'a traceback in Python',
    'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\n    main()\nValueError: no such model',
    'ValueError: no such model',
  ],
  [
    'plain words among log lines',
    '2026-11-15T18:43:30.493901Z ERROR codex_app_server: no bubblewrap\nThe disk is full.\nWARNING: proceeding all the same',
    'The disk is full.',
  ],
  ['log lines alone', '2026-11-15T18:43:30.493901Z ERROR codex_core: patch rejected', ''],
  ['frames alone', '    at foo (/x.js:1:2)\n    at bar (/x.js:3:4)', ''],
  ['nothing', '', ''],
])('%s', (_what, printed, reason) => {
  const lines = printed.split('\n').filter((line) => line.trim() !== '');
  expect(crashReason(lines)).toBe(reason);
});
