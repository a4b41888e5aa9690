// The bare relay that Switchboard is compared with: starts a server (a Node script, named by the arguments), parses
// each line in both directions, and forwards the line unchanged. It has no names, time limits, size limits or
// cancellation: less than any gateway has to do.
import { spawn } from 'node:child_process';
import { onLine } from './lines.mjs';

const child = spawn(process.execPath, process.argv.slice(2), {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const lineFeed = Buffer.from('\n');

function pass(from, to) {
  onLine(from, (line) => {
    JSON.parse(line.toString());
    to.write(Buffer.concat([line, lineFeed]));
  });
}

pass(process.stdin, child.stdin);
pass(child.stdout, process.stdout);
process.stdin.on('end', () => child.stdin.end());
child.on('exit', () => process.exit());
