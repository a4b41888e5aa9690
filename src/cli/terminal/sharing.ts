// Sentences about which sessions share a server's process.
import type { Share } from '../../config/config.ts';

const MOST_NAMES = 5;

/** Why other sessions have a process of their own. */
export function explainApart(apart: readonly string[]): string[] {
  if (apart.length === 0) return [];
  const shown = apart.slice(0, MOST_NAMES).join(', ');
  const more = apart.length > MOST_NAMES ? ` and ${apart.length - MOST_NAMES} more` : '';
  const verb = apart.length === 1 ? 'has another value' : 'have other values';
  return [`Some sessions have their own process, because ${shown}${more} ${verb} there.`];
}

const SHARED: Readonly<Record<Share, string>> = {
  user: 'shared by all your sessions',
  project: 'shared by the sessions in this project',
  session: 'not shared',
};

export function describeShare(share: Share, because: string): string {
  return `${SHARED[share]} (${because})`;
}
