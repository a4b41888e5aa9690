// receiver.mjs BYTES PROGRAM…: a host that calls the tool `large` one after the other, and reads each result without
// parsing it. Each line on stdin is a number of calls to make; `done` on stdout says that all have their results.
import { spawn } from 'node:child_process';
import { onLine } from './lines.mjs';

const [, , bytes, ...args] = process.argv;
const program = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
let lastId = 0;
let left = 0;

function ask(method, params) {
  const message = { jsonrpc: '2.0', id: ++lastId, method, params };
  program.stdin.write(`${JSON.stringify(message)}\n`);
}

function callLarge() {
  left--;
  const large = { action: 'call', subtool: 'large', args: { bytes: Number(bytes), letter: 'x' } };
  ask('tools/call', { name: 'bench_suite', arguments: large });
}

onLine(program.stdout, (line) => {
  if (line.subarray(0, 64).includes('"method"')) return;
  if (lastId === 1) {
    program.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  } else if (line.length < Number(bytes)) {
    throw new Error(`Not the result: ${line.toString('utf8', 0, 200)}`);
  }
  if (left > 0) callLarge();
  else process.stdout.write('done\n');
});

onLine(process.stdin, (line) => {
  left = Number(line.toString());
  callLarge();
});
process.stdin.once('end', () => program.stdin.end());

ask('initialize', {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'receiver', version: '1.0.0' },
});
