// An assistant that was laid out in a server's folder, used from its switching on to its switching off: the
// published memory server behind it, and a model on loopback.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryServer } from '../support/assistant.ts';
import { runSwitchboard } from '../support/command.ts';
import { type Script, startModelServer } from '../support/model-server-chat.ts';
import { createProject } from '../support/project.ts';
import { RawHost, toolsOf } from '../support/raw-host.ts';

const remembers: Script = ({ results }) =>
  results[0]
    ? { text: 'Stored.' }
    : {
        calls: [
          {
            name: 'create_entities',
            args: {
              entities: [{ name: 'api_key', entityType: 'secret', observations: ['xyz'] }],
            },
          },
        ],
      };

test.each(['.switchboard/mcps', 'mcps'])(
  '%s: "remember my API key is xyz" is stored',
  async (place) => {
    const model = await startModelServer(remembers);
    const project = createProject();
    const { command, args, env, description } = memoryServer(project.dir);
    const file = `${place}/memory/.mcp.json`;
    project.write(file, { name: 'memory', description, command, args, env });
    const before = readFileSync(join(project.dir, file), 'utf8');
    const withModel = { ...project, env: { ...project.env, ...model.env('messages') } };

    expect((await runSwitchboard(withModel, ['assistant', 'memory', 'on'])).status).toBe(0);
    const host = await RawHost.connect(withModel);
    expect(await host.toolNames()).toEqual(['memory_suite']);
    expect(toolsOf(await host.introspect('memory'))).toMatchObject([{ name: 'natural_language' }]);
    const query = 'remember my API key is xyz';
    const answer = await host.call('memory', 'natural_language', { query });
    expect(answer.result?.content).toEqual([{ type: 'text', text: 'Stored.' }]);
    expect(readFileSync(join(project.dir, 'memory.jsonl'), 'utf8')).toContain('"xyz"');
    // The role of the folder is what the model is told.
    const role = readFileSync(join(project.dir, place, 'memory/CLAUDE.md'), 'utf8').trim();
    expect(model.requests[0]?.system).toContain(role);
    expect(host.stderr).not.toContain('xyz');
    await host.close();

    expect((await runSwitchboard(withModel, ['assistant', 'memory', 'off'])).status).toBe(0);
    expect(readFileSync(join(project.dir, file), 'utf8')).toBe(before);
    expect(existsSync(join(project.dir, place, 'memory/original'))).toBe(false);
    const plain = await RawHost.connect(withModel);
    expect((await plain.call('memory', 'read_graph')).result?.isError).not.toBe(true);
  },
);
