// Resident memory of processes: what `ps` shows as RSS.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

export function residentMegabytes(pid: number): number {
  return residentKilobytes(pid) / 1024;
}

function residentKilobytes(pid: number): number {
  if (process.platform === 'linux') {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]);
  }
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)]));
}
