// An agent's file is approved together with the format it is read in.
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readAgentFile } from '../../../src/agents/gated.ts';
import { Gate } from '../../../src/config/files/gate.ts';
import { recordDecisions } from '../../../src/trust/approvals/decide.ts';
import { FileJudge } from '../../../src/trust/approvals/judge.ts';
import { commitAll } from '../../support/git.ts';
import { createProject } from '../config/temp-project.ts';

test('an approval is for one format, also once the file is recognized', async () => {
  const { folder, homeFolder } = createProject({ 'agents/a.md': '---\nname: a\n---\nDo it.\n' });
  commitAll(folder);
  const home = join(homeFolder, '.switchboard');
  const file = join(folder, 'agents/a.md');
  const open = () => {
    const folders = { project: folder, home, homeFolder };
    const settings = { mode: 'repository' as const, directories: [] };
    const judge = new FileJudge(settings, folders);
    return { judge, gate: new Gate(async () => judge, settings, folders) };
  };
  const first = open();
  expect(await readAgentFile(file, 'claude', first.gate)).toBe('waiting');
  await recordDecisions(home, first.judge.judged, 'approved');
  for (const time of ['after the approval', 'with what that start recorded']) {
    const { judge, gate } = open();
    expect(await readAgentFile(file, 'claude', gate), time).toHaveProperty('text');
    expect(await readAgentFile(file, 'copilot', gate), time).toBe('waiting');
    judge.save();
  }
});
