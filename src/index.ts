import { run } from './cli/run.ts';
import type { GivenLink } from './cli/serve/linked.ts';

/** Set by the built program's first file, if the entry has a session for us to serve. */
declare const __LINK__: GivenLink | undefined;

const link = typeof __LINK__ === 'undefined' ? undefined : __LINK__;
// Not awaited: in the built program, chunks loaded later wait until this file is done.
void run(process.argv.slice(2), link).then((status) => {
  process.exitCode = status;
});
