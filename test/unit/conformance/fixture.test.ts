// The server behind Switchboard in the conformance run, alone and over stdio: each tool is written
// once, and behaves in each era as that era wants it.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { describe, expect, it, onTestFinished } from 'vitest';

const ERAS = { legacy: 'legacy', modern: { pin: '2026-07-28' } } as const;

describe.each(Object.entries(ERAS))('in the %s era, the fixture', (era, mode) => {
  it('speaks that era', async () => {
    const client = await connect(mode);
    expect(client.getProtocolEra()).toBe(era);
  });

  it('asks a model, and answers with its response', async () => {
    const client = await connect(mode);
    client.setRequestHandler('sampling/createMessage', ({ params }) => ({
      role: 'assistant',
      model: 'a-model',
      content: { type: 'text', text: `heard ${JSON.stringify(params.messages[0]?.content)}` },
    }));
    const result = await client.callTool({ name: 'test_sampling', arguments: { prompt: 'hello' } });
    expect(result.content).toMatchObject([
      { text: expect.stringContaining('LLM response: heard') },
    ]);
    expect(JSON.stringify(result.content)).toContain('hello');
  });

  it('asks the user with its form unchanged', async () => {
    const client = await connect(mode);
    const asked: unknown[] = [];
    client.setRequestHandler('elicitation/create', ({ params }) => {
      asked.push(params);
      return { action: 'accept', content: { name: 'Jane' } };
    });
    const result = await client.callTool({ name: 'test_elicitation_sep1034_defaults' });
    expect(asked).toMatchObject([
      {
        requestedSchema: { properties: { score: { default: 95.5 }, verified: { default: true } } },
      },
    ]);
    expect(result.content).toEqual([
      { type: 'text', text: 'Elicitation completed: action=accept, content={"name":"Jane"}' },
    ]);
  });

  it('announces a changed list, and the list has changed', async () => {
    const client = await connect(mode);
    const changed = new Promise((resolve) => {
      client.setNotificationHandler('notifications/tools/list_changed', resolve);
    });
    if (era === 'modern') await client.listen({ toolsListChanged: true });
    const before = await client.listTools();
    await client.callTool({ name: 'test_trigger_tool_change' });
    await changed;
    const after = await client.listTools({}, { cacheMode: 'refresh' });
    expect(after.tools.map(({ name }) => name)).toEqual(before.tools.map(({ name }) => name));
    expect(after.tools).not.toEqual(before.tools);
  });
});

async function connect(mode: (typeof ERAS)[keyof typeof ERAS]): Promise<Client> {
  const client = new Client(
    { name: 'fixture-test', version: '1.0.0' },
    {
      capabilities: { sampling: {}, elicitation: {} },
      versionNegotiation: { mode },
    },
  );
  const args = ['conformance/fixture/stdio.mjs'];
  onTestFinished(() => client.close());
  await client.connect(new StdioClientTransport({ command: process.execPath, args }));
  return client;
}
