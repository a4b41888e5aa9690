// Everyday use of suites, agents and assistants. These checks share one session.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from 'vitest';
import { locate, programOf } from '../../../scripts/programs/programs.ts';
import { toml } from '../../support/agent-project.ts';
import { writeEngineHome } from '../../support/engine-home.ts';
import { startModelServer } from '../../support/model-server.ts';
import { startModelServer as startChatModel } from '../../support/model-server-chat.ts';
import { eventually, isReaped, processesOf } from '../../support/processes.ts';
import type { Project } from '../../support/project.ts';
import { type AtEnd, type HostUnderTest, stdioEntry } from '../host-under-test.ts';
import { BOX, callOf, KIT, KIT_PROGRAM, READER } from '../servers.ts';
import { shared } from '../shared.ts';

const LINES = 20_000;

export function describeOneSession(host: HostUnderTest): void {
  describe('one session', () => {
    const scene = shared(async (atEnd) => {
      const project = host.createProject(
        { kit: KIT, fresh: { ...READER, show: 'direct' }, notes: { ...BOX, assistant: true } },
        atEnd,
      );
      project.write('.agents/aide.toml', toml('Aide', 'description = "Helps."'));
      const env = { ...(await agentModel(project, atEnd)), ...(await assistantModel(atEnd)) };
      const session = await host.start({ project, entry: stdioEntry(project, env) }, atEnd);
      return { session, project };
    });
    const callKit = (subtool: string, args?: object) =>
      scene().session.call('kit_suite', callOf(subtool, args));

    host.check('listed', async () => {
      expect(await scene().session.finds('kit_suite')).toBe(true);
    });

    host.check('direct', async () => {
      const { session } = scene();
      // Until Switchboard has seen its tools, its suite is listed instead.
      const hasOwn = await session.finds('look');
      expect(hasOwn || (await session.finds('fresh_suite'))).toBe(true);
      const look = async () =>
        (await session.finds('look'))
          ? session.call('look', {})
          : session.call('fresh_suite', callOf('look'));
      await expect.poll(async () => (await look()).text).toContain('called look');
    });

    host.check('introspect', async () => {
      const { text } = await scene().session.call('kit_suite', { action: 'introspect' });
      expect(text).toContain('"name":"echo"');
      expect(text).toContain('"inputSchema"');
    });

    host.check('call', async () => {
      expect((await callKit('echo', { text: 'žluť 🦊' })).text).toContain('žluť 🦊');
    });

    host.check('image', async () => {
      const { images } = await callKit('contents');
      expect(images).toEqual([{ mimeType: 'image/png', data: expect.stringMatching(/^iVBORw0/) }]);
    });

    host.check('error', async () => {
      const failed = await callKit('fails');
      expect(failed.text).toContain('It did not work.');
      expect(failed.isError ?? true).toBe(true);
      expect((await callKit('refuses')).text).toContain('Not today.');
    });

    host.check('large', async () => {
      const lines = Array.from({ length: LINES }, (_, index) => `line ${index + 1}.`);
      const { text } = await callKit('echo', { text: lines.join('\n') });
      // Hosts cut it short, or save it to a file and name the file.
      const [, file] = /(?:saved to:?|see:) (\/\S+?)\.?\s/.exec(text) ?? [];
      const whole = file === undefined ? text : readFileSync(file, 'utf8');
      expect(whole).toContain('line 1.\nline 2.');
      expect(whole).toContain(`line ${LINES - 1}.\nline ${LINES}.`);
    });

    host.check('question', async () => {
      const { text } = await callKit('ask_form');
      expect(text).toContain(JSON.stringify(host.driver.reply));
      // The user must see which server asks.
      for (const question of host.driver.questions?.(scene().project) ?? []) {
        expect(question).toMatch(/\bkit\b.*What is your name/);
      }
    });

    host.check('agent', async () => {
      const { session, project } = scene();
      const { text } = await session.call('agent_aide', { task: 'Help.', cwd: project.dir });
      expect(text).toContain('{"ok":true,"output":"The agent has helped."}');
    });

    host.check('assistant', async () => {
      const query = callOf('natural_language', { query: 'What is in there?' });
      const { text } = await scene().session.call('notes_suite', query);
      expect(text).toContain('The assistant has looked.');
      expect(text).not.toContain('inputTokens');
    });

    host.check('killed', async () => {
      const { session, project } = scene();
      const running = processesOf(project.dir).filter(({ command }) =>
        command.includes(KIT_PROGRAM),
      );
      expect(running).toHaveLength(1);
      const pid = running[0]?.pid ?? 0;
      process.kill(pid, 'SIGKILL');
      await eventually(() => isReaped(pid)); // or the next call may still reach it
      expect((await callKit('echo', { text: 'back again' })).text).toContain('back again');
      await session.end();
    });
  });
}

/** The real Codex runs the agents, with a model that always gives the same answer. */
async function agentModel(project: Project, atEnd: AtEnd): Promise<Record<string, string>> {
  const binary = locate(programOf('codex'));
  if (binary === undefined) throw new Error('Fetch Codex first: npm run test:hosts');
  const model = await startModelServer([{ kind: 'says', text: 'The agent has helped.' }]);
  atEnd(() => model.close());
  writeEngineHome({ binary, folder: join(project.dir, 'home/.codex'), url: model.url });
  return { SWITCHBOARD_CODEX_BIN: binary };
}

/** The assistant's model uses one of its server's tools, then answers. */
async function assistantModel(atEnd: AtEnd): Promise<Record<string, string>> {
  const model = await startChatModel((_request, index) => {
    if (index === 0) return { calls: [{ name: 'echo', args: { looking: true } }] };
    return { text: 'The assistant has looked.' };
  }, atEnd);
  return model.env('messages');
}
