// Row 20: how much longer a server's first call takes if the server starts in a sandbox (bubblewrap). A hidden file in
// the home directory makes every other entry a mount, so that is measured, too.
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { Client, type Program } from './client.ts';
import { median, takeTurns, timeOf } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { CHILD, type Server, type Workspace } from './workspace.ts';

const HOME_ENTRIES = 60;
const SECRETS = '.ssh .aws .gnupg .kube .docker .codex .claude .mozilla .config/gh'
  .split(' ')
  .map((folder) => `${folder}/secret`);
const SECRET_FILES = ['.claude.json', '.netrc'];

export async function measureSandbox({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  const trial = spawnSync('bwrap', ['--ro-bind', '/', '/', 'bwrap', '--version']);
  if (trial.status !== 0) {
    progress('sandbox: skipped, bubblewrap is missing or does not work (scripts/setup-debian.sh)');
    return [];
  }
  progress('starting a server in a sandbox');
  const plain = workspace.switchboardWithMainFile('plain', [server(false)]);
  const confined = workspace.switchboardWithMainFile('confined', [server(true)]);
  const folders = withHome(confined, workspace, 'folders', SECRETS);
  const files = withHome(confined, workspace, 'files', [...SECRETS, ...SECRET_FILES]);
  const ms = await takeTurns(
    {
      plain: () => timeToStart(plain),
      folders: () => timeToStart(folders),
      files: () => timeToStart(files),
    },
    { rounds: rounds(41), warmUps: 2 },
  );
  const without = median(ms.plain);
  const row = (what: string, taken: readonly number[]): Row => ({
    group: 20,
    what,
    measured: Math.max(0, median(taken) - without),
    unit: 'ms',
    budget: { most: 10 },
    beside: [
      `first call ${median(taken).toFixed(1)} ms in a sandbox, ${without.toFixed(1)} ms without`,
    ],
  });
  return [
    row("a sandbox's share of a server's start", ms.folders),
    row(`the same, ${HOME_ENTRIES} entries next to a hidden file`, ms.files),
  ];
}

function server(isConfined: boolean): Server {
  // This repository may be in /tmp, which a sandbox replaces.
  const filesystem = { allowRead: [dirname(CHILD)] };
  const sandbox = isConfined && { filesystem };
  return { name: 'child', description: 'measurements', args: [CHILD], sandbox };
}

/** The same program with a home directory like people's. */
function withHome(
  program: Program,
  workspace: Workspace,
  name: string,
  secrets: readonly string[],
): Program {
  const entries = Array.from({ length: HOME_ENTRIES }, (_, index) => `entry-${index}/file`);
  const files = [...entries, ...secrets].map((path) => workspace.write(`${name}/${path}`, ''));
  const [first = ''] = files;
  return { ...program, env: { ...program.env, HOME: dirname(dirname(first)) } };
}

/** Only the first call: Switchboard itself is already running. */
async function timeToStart(program: Program): Promise<number> {
  await using client = new Client(program);
  await client.shakeHands();
  await client.ask('tools/list');
  return timeOf(() =>
    client.callTool('child_suite', { action: 'call', subtool: 'echo', args: { message: 'x' } }),
  );
}
