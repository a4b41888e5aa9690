// Loaded into the background process before its own code (`--require`): measures the longest turn of its event loop,
// as CPU time of its main thread, so that a busy machine doesn't matter, and as time on the clock. A timer that is due
// runs once in every turn, so the CPU time between two runs is that of at most one long turn. At SIGUSR2 it writes both
// figures to the file in LOOP_PROBE and starts again.
const { closeSync, openSync, readSync, renameSync, writeFileSync } = require('node:fs');

const EVERY_MS = 2;
const { LOOP_PROBE: file } = process.env;
const stat = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
const bytes = Buffer.alloc(64);

function cpuNow() {
  const length = readSync(stat, bytes, 0, bytes.length, 0);
  return Number.parseInt(bytes.toString('latin1', 0, length), 10) / 1e6;
}

let last = { cpu: cpuNow(), wall: performance.now() };
let longest = { cpu: 0, wall: 0 };

setInterval(() => {
  const now = { cpu: cpuNow(), wall: performance.now() };
  longest = {
    cpu: Math.max(longest.cpu, now.cpu - last.cpu),
    wall: Math.max(longest.wall, now.wall - last.wall),
  };
  last = now;
}, EVERY_MS).unref();

process.on('SIGUSR2', () => {
  writeFileSync(`${file}.new`, JSON.stringify(longest));
  renameSync(`${file}.new`, file); // so that it's never read half-written
  longest = { cpu: 0, wall: 0 };
});
process.on('exit', () => closeSync(stat));
