import { run } from './cli/run.ts';

// Not awaited here: what is loaded later in the built program waits for this file to be done.
void run(process.argv.slice(2)).then((status) => {
  process.exitCode = status;
});
