import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { attachedServer, plainAgent, watchedRun } from '../support/agents.ts';
import { ROOT } from '../support/project.ts';
import { realEngine } from '../support/real-engine.ts';

const MEMORY = join(ROOT, 'node_modules/@modelcontextprotocol/server-memory/dist/index.js');
const PATCH = '*** Begin Patch\n*** Add File: patched.txt\n+by a patch\n*** End Patch\n';

test('an agent runs a command, applies a patch, calls a server and says what came of it', async () => {
  const { engine, model, cwd } = await realEngine({
    script: [
      { kind: 'calls', tool: 'exec_command', args: { cmd: 'echo written > by-command.txt' } },
      { kind: 'patches', patch: PATCH },
      {
        kind: 'calls',
        namespace: 'mcp__memory',
        tool: 'create_entities',
        args: { entities: [{ name: 'one', entityType: 'thing', observations: [] }] },
      },
      { kind: 'says', text: 'FINAL: all three', pieces: 3 },
    ],
  });
  const run = watchedRun(cwd, {
    agent: plainAgent({
      instructions: 'You are MARKER-OF-INSTRUCTIONS.',
      run: {
        sandboxMode: 'danger-full-access',
        approvalPolicy: 'never',
        includeApplyPatchTool: true,
      },
    }),
    servers: [
      attachedServer({
        cmd: process.execPath,
        args: [MEMORY],
        env: { MEMORY_FILE_PATH: join(cwd, 'memory.jsonl') },
      }),
    ],
  });
  const result = await engine.run(run);
  expect(result).toEqual({ ok: true, output: 'FINAL: all three' });
  expect(readFileSync(join(cwd, 'by-command.txt'), 'utf8')).toBe('written\n');
  expect(readFileSync(join(cwd, 'patched.txt'), 'utf8')).toBe('by a patch\n');
  expect(readFileSync(join(cwd, 'memory.jsonl'), 'utf8')).toContain('"one"');
  expect(model.sent).toContain('MARKER-OF-INSTRUCTIONS');
});
