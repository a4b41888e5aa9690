// Lists that change while a host is connected: it is told, in the way of its era, and finds the new
// list. Hosts of the newer era are told what they have asked to be told.
import { expect } from 'vitest';
import type { FeatureId } from './cells.ts';
import type { Host } from './hosts.ts';
import { describeMatrix } from './matrix.ts';
import { textOf } from './results.ts';
import { waitFor } from './wait.ts';

const LISTS: { id: FeatureId; what: 'tools' | 'prompts' | 'resources' }[] = [
  { id: 'tools-changed', what: 'tools' },
  { id: 'prompts-changed', what: 'prompts' },
  { id: 'resources-changed', what: 'resources' },
];

describeMatrix('changes', ['direct', 'switchboard', 'http'], (tryCell) => {
  for (const { id, what } of LISTS) {
    tryCell(id, async ({ host }) => {
      if (what === 'tools') await host.watchLists();
      // Known by now, so that it is this change that is told.
      await expect.poll(() => namesOf(host, what)).not.toEqual([]);
      const before = await namesOf(host, what);
      const told = countNews(host, what);
      expect(textOf(await host.callTool('change', { what }))).toBe('changed');
      await expect.poll(() => countNews(host, what)).toBeGreaterThan(told);
      await waitFor(() => namesOf(host, what), [...before, 'added'].toSorted());
    });
  }
});

async function namesOf(host: Host, what: 'tools' | 'prompts' | 'resources'): Promise<string[]> {
  const lists = {
    tools: () => host.listTools(),
    prompts: () => host.listPrompts(),
    resources: () => host.listResources(),
  };
  return (await lists[what]()).map(({ name }) => String(name)).toSorted();
}

function countNews({ received }: Host, what: string): number {
  const method = `notifications/${what}/list_changed`;
  return received.filter((message) => message.method === method).length;
}
