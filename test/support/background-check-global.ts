// Fails a run that leaves a background process of this program behind, whatever its home is. One that ran before is the
// developer's own.
import { fileURLToPath } from 'node:url';
import { eventually, processesWith, type Running } from './processes.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

export default function setup(): () => Promise<void> {
  const before = new Set(running().map(({ pid }) => pid));
  const left = () => running().filter(({ pid }) => !before.has(pid));
  return async () => {
    // Those whose home is gone end within a second.
    if (await eventually(() => left().length === 0, 20_000)) return;
    const lines = left().map(({ pid, command }) => `${pid} ${command}`);
    process.exitCode = 1; // vitest only prints the error
    throw new Error(`The tests left background processes behind:\n${lines.join('\n')}`);
  };
}

function running(): Running[] {
  return processesWith(`${PROGRAM} background `);
}
