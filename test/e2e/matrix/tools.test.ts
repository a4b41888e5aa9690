// Tools: what they are, what they give, how far they are, and that they can be called off.
import { expect } from 'vitest';
import { eventually } from '../../support/processes.ts';
import type { Host } from './hosts.ts';
import { describeMatrix } from './matrix.ts';
import { heardSince, lastErrorOf, textOf } from './results.ts';

describeMatrix('tools', ['direct', 'switchboard', 'suite', 'http'], (tryCell) => {
  tryCell('list-tools', async ({ host, place }) => {
    if (place.route === 'suite') {
      expect((await host.listTools()).map(({ name }) => name)).toEqual(['eras_suite']);
      return;
    }
    const tools = await host.listTools();
    expect(tools).toHaveLength(20);
    expect(tools).toContainEqual({
      name: 'echo',
      description: 'Gives the text back.',
      inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
      annotations: { title: 'Echo', readOnlyHint: true },
    });
    expect(tools).toContainEqual(
      expect.objectContaining({
        name: 'structured',
        outputSchema: {
          type: 'object',
          properties: { celsius: { type: 'number' }, sky: { type: 'string' } },
          required: ['celsius'],
        },
      }),
    );
    expect(tools).toContainEqual(
      expect.objectContaining({ name: 'app', _meta: { ui: { resourceUri: 'ui://fixture/view' } } }),
    );
  });

  tryCell('call', async ({ host }) => {
    expect(await host.callTool('echo', { text: 'žluť 🦊\u2028' })).toEqual({
      content: [{ type: 'text', text: 'žluť 🦊\u2028' }],
    });
  });

  tryCell('contents', async ({ host }) => {
    expect(await host.callTool('contents')).toEqual({
      content: [
        { type: 'text', text: 'žluť 🦊', annotations: { audience: ['user'], priority: 0.5 } },
        { type: 'image', data: expect.stringMatching(/^iVBOR.*==$/), mimeType: 'image/png' },
        { type: 'audio', data: 'UklGRg==', mimeType: 'audio/wav' },
        { type: 'resource_link', uri: 'fixture://static', name: 'static', mimeType: 'text/plain' },
        {
          type: 'resource',
          resource: { uri: 'fixture://embedded', mimeType: 'text/plain', text: 'embedded' },
        },
      ],
      _meta: { 'example.com/mark': 'kept' },
    });
  });

  tryCell('structured', async ({ host }) => {
    expect(await host.callTool('structured')).toEqual({
      content: [{ type: 'text', text: '{"celsius":21.5,"sky":"clear"}' }],
      structuredContent: { celsius: 21.5, sky: 'clear' },
    });
  });

  tryCell('tool-failure', async ({ host }) => {
    expect(await host.callTool('fails')).toEqual({
      content: [{ type: 'text', text: 'It did not work.' }],
      isError: true,
    });
  });

  tryCell('rpc-error', async ({ host, place }) => {
    await expect(host.callTool('refuses')).rejects.toThrow('Not today.');
    // Switchboard adds which server has said so.
    const through = expect.stringMatching(/^Not today\. .*"eras"/);
    expect(lastErrorOf(host)).toEqual({
      code: -31_999,
      message: place.route === 'direct' ? 'Not today.' : through,
      data: { retryAfter: 7 },
    });
  });

  tryCell('calls-at-once', async ({ host }) => {
    const texts = Array.from({ length: 20 }, (_, number) => `call ${number}`);
    const results = await Promise.all(texts.map((text) => host.callTool('echo', { text })));
    expect(results.map(textOf)).toEqual(texts);
  });

  tryCell('progress', async ({ host }) => {
    // Only what passed the wire counts: the clients lose what comes together with the answer.
    const from = host.received.length;
    const result = await host.callTool('progress', { steps: 4 }, { onProgress: () => {} });
    expect(textOf(result)).toBe('counted');
    const token = lastToken(host);
    expect(token).toBeDefined();
    const news = heardSince(host, from).map(({ method, params }) => method && params);
    expect(news).toEqual([
      ...[1, 2, 3, 4].map((progress) => ({
        progressToken: token,
        progress,
        total: 4,
        message: `step ${progress}`,
      })),
      undefined, // the answer, and nothing after it
    ]);
  });

  tryCell('cancel', async ({ host, journal, readJournal }) => {
    const abort = new AbortController();
    const call = host.callTool('slow', { journal }, { signal: abort.signal }).then(
      () => 'answered',
      () => 'called off',
    );
    expect(await eventually(() => readJournal().includes('begun'))).toBe(true);
    abort.abort('enough');
    expect(await call).toBe('called off');
    expect(await eventually(() => readJournal().includes('cancelled'))).toBe(true);
    expect(textOf(await host.callTool('echo', { text: 'still here' }))).toBe('still here');
  });
});

function lastToken(host: Host): unknown {
  const call = host.sent.findLast(({ method }) => method === 'tools/call');
  return (call?.params?.['_meta'] as { progressToken?: unknown } | undefined)?.progressToken;
}
