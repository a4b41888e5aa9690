import { type Given, run } from './cli/run.ts';

/** Set by the built program's first file, if the entry has something for us. */
declare const __GIVEN__: Given | undefined;

const given = typeof __GIVEN__ === 'undefined' ? undefined : __GIVEN__;
// Not awaited: in the built program, chunks loaded later wait until this file is done.
void run(process.argv.slice(2), given).then((status) => {
  process.exitCode = status;
});
