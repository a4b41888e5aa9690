// Resources: listed, read, watched.
import { expect } from 'vitest';
import type { Host } from './hosts.ts';
import { describeMatrix } from './matrix.ts';
import { lastErrorOf } from './results.ts';
import { waitFor } from './wait.ts';

const STATIC = 'fixture://static';

describeMatrix('resources', ['direct', 'switchboard', 'http'], (tryCell) => {
  tryCell('list-resources', async ({ host }) => {
    await waitFor(
      () => host.listResources(),
      [
        { uri: STATIC, name: 'static', mimeType: 'text/plain', description: 'A text.' },
        { uri: 'fixture://binary', name: 'binary', mimeType: 'application/octet-stream' },
        {
          uri: 'ui://fixture/view',
          name: 'view',
          mimeType: 'text/html;profile=mcp-app',
          _meta: { ui: { prefersBorder: true } },
        },
        { uri: 'fixture://asks', name: 'asks', mimeType: 'text/plain' },
      ],
    );
    await waitFor(
      () => host.listTemplates(),
      [
        {
          uriTemplate: 'fixture://item/{id}',
          name: 'item',
          mimeType: 'text/plain',
          description: 'One of many.',
        },
      ],
    );
  });

  tryCell('read-text', async ({ host }) => {
    expect(await host.readResource(STATIC)).toEqual({
      contents: [{ uri: STATIC, mimeType: 'text/plain', text: 'read after 0 changes' }],
    });
  });

  tryCell('read-binary', async ({ host }) => {
    const uri = 'fixture://binary';
    expect(await host.readResource(uri)).toEqual({
      contents: [{ uri, mimeType: 'application/octet-stream', blob: 'AP8KDQ==' }],
    });
  });

  tryCell('read-template', async ({ host }) => {
    const uri = 'fixture://item/7%20a';
    expect(await host.readResource(uri)).toEqual({
      contents: [{ uri, mimeType: 'text/plain', text: 'item 7%20a' }],
    });
  });

  tryCell('read-view', async ({ host }) => {
    const uri = 'ui://fixture/view';
    expect(await host.readResource(uri)).toEqual({
      contents: [
        {
          uri,
          mimeType: 'text/html;profile=mcp-app',
          text: '<!doctype html><title>View</title>',
          _meta: { ui: { csp: { connectDomains: ['https://example.com'] } } },
        },
      ],
    });
  });

  tryCell('read-missing', async ({ host, place }) => {
    const uri = 'fixture://missing';
    await expect(host.readResource(uri)).rejects.toThrow('Resource not found');
    const isOld = host.era === 'handshake' && place.server === 'handshake';
    expect(lastErrorOf(host)).toEqual({
      code: isOld ? -32_002 : -32_602,
      message: expect.stringMatching(/^Resource not found/),
      data: { uri },
    });
  });

  tryCell('template-completion', async ({ host }) => {
    const ref = { type: 'ref/resource' as const, uri: 'fixture://item/{id}' };
    expect(await host.complete({ ref, argument: { name: 'id', value: '1' } })).toEqual({
      completion: { values: ['1', '10'], total: 2, hasMore: false },
    });
  });

  tryCell('subscription', async ({ host }) => {
    const unsubscribe = await host.subscribe(STATIC);
    await host.callTool('touch', { uri: 'fixture://binary' });
    await host.callTool('touch', { uri: STATIC });
    await expect.poll(() => updatesOf(host)).toEqual([STATIC]);
    expect(await host.readResource(STATIC)).toMatchObject({
      contents: [{ text: 'read after 2 changes' }],
    });
    await unsubscribe();
    await host.callTool('touch', { uri: STATIC });
    // News that were still on their way would come before this answer.
    await host.callTool('echo', { text: 'after' });
    expect(updatesOf(host)).toEqual([STATIC]);
  });
});

function updatesOf({ received }: Host): unknown[] {
  return received
    .filter(({ method }) => method === 'notifications/resources/updated')
    .map(({ params }) => params?.['uri']);
}
