// The least that can answer like Switchboard: returns results by method from the JSON file in the first argument.
// Its startup time is Node's.
import { readFileSync } from 'node:fs';

const results = JSON.parse(readFileSync(process.argv[2], 'utf8'));

process.stdin.on('data', (chunk) => {
  for (const line of chunk.toString().split('\n')) {
    if (line === '') continue;
    const { id, method } = JSON.parse(line);
    if (id === undefined) continue;
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":${results[method]}}\n`);
  }
});
