import { run } from './cli/run.ts';

// Not awaited: in the built program, chunks loaded later wait until this file is done.
void run(process.argv.slice(2)).then((status) => {
  process.exitCode = status;
});
