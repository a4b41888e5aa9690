// The bare relay that Switchboard is held against: starts a server (a node script, named by the
// arguments), parses each line in both directions, and passes the line on as it came. It knows no
// names, time limits, sizes or cancellation: less than any gateway has to do.
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
