// The agent that the documentation shows, with every field that it has.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attachedServer, plainAgent, watchedRun } from '../support/agents.ts';
import { ROOT } from '../support/project.ts';
import { realEngine } from '../support/real-engine.ts';

test('the documented example has its model, provider, instructions, tools and server', async () => {
  const { engine, model, cwd } = await realEngine({
    script: [{ kind: 'says', text: 'explained' }],
    isOpenai: true,
    env: { OPENAI_API_KEY: 'sk-some-key' },
  });
  const run = watchedRun(cwd, {
    task: 'Why does it fail?',
    agent: plainAgent({
      name: 'Explain Build Failures',
      safeName: 'explain_build_failures',
      instructions: 'Diagnose failing builds and propose fixes.',
      run: {
        model: 'gpt-4o-mini',
        provider: 'openai',
        builtins: { web_search: true, plan: true, apply_patch: true },
      },
    }),
    servers: [
      attachedServer({
        cmd: process.execPath,
        args: [join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js')],
        env: { MEMORY_FILE_PATH: join(cwd, 'memory.jsonl') },
      }),
    ],
  });
  expect(await engine.run(run)).toEqual({ ok: true, output: 'explained' });
  const body = model.requests[0]?.body;
  expect(body?.model).toBe('gpt-4o-mini');
  expect(JSON.stringify(body?.input[0])).toContain('Diagnose failing builds and propose fixes.');
  expect(model.requests[0]?.authorization).toBe('Bearer sk-some-key');
  const names = body?.tools?.map(({ name, type }) => name ?? type) ?? [];
  expect(names).toEqual(
    expect.arrayContaining(['update_plan', 'apply_patch', 'web_search', 'mcp__memory']),
  );
  expect(names).not.toContain('view_image');
});
