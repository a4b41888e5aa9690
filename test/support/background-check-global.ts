// Fails a run that leaves a background process of this program behind, whatever its home is. One that ran before is the
// developer's own.
import { fileURLToPath } from 'node:url';
import { processesWith, type Running } from './processes.ts';

const PROGRAM = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

export default function setup(): () => void {
  const before = new Set(running().map(({ pid }) => pid));
  return () => {
    const left = running().filter(({ pid }) => !before.has(pid));
    if (left.length === 0) return;
    const lines = left.map(({ pid, command }) => `${pid} ${command}`);
    throw new Error(`The tests left background processes behind:\n${lines.join('\n')}`);
  };
}

function running(): Running[] {
  return processesWith(`${PROGRAM} background `);
}
