// Row 21: how much longer a start takes if 50 servers came with a repository and are approved, instead of trusted without
// a look (`SWITCHBOARD_TRUST=all`). Row 22: calls with permissions and with an audit log, instead of without.
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { Client, type Program } from './client.ts';
import { compare, median, takeTurns } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { settle, timeToList } from './startup.ts';
import { CHILD, numberedServers, type Server, type Workspace } from './workspace.ts';

const SERVERS = 50;
const BLOCK_CALLS = 200;

export async function measureApproved({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  if (spawnSync('git', ['--version']).status !== 0) {
    progress('approved servers: skipped, git is missing');
    return [];
  }
  progress(`starting, with ${SERVERS} servers of a repository`);
  const mainFile = workspace.switchboardWithMainFile('tracked', numberedServers(SERVERS));
  const files = workspace.switchboard('tracked-files', numberedServers(SERVERS));
  for (const program of [mainFile, files]) commitAndApprove(program);
  await settle([mainFile, files]);
  const ms = await takeTurns(
    {
      mainFile: () => timeToList(mainFile),
      mainFileAll: () => timeToList(trusting(mainFile)),
      files: () => timeToList(files),
      filesAll: () => timeToList(trusting(files)),
    },
    { rounds: rounds(61), warmUps: 2 },
  );
  const row = (what: string, taken: readonly number[], without: readonly number[]): Row => ({
    group: 21,
    what,
    // The median of differences: the machine's speed changes more between rounds than within one.
    measured: median(taken.map((value, round) => value - (without[round] ?? Number.NaN))),
    unit: 'ms',
    budget: { most: 2 },
    beside: [
      `${median(taken).toFixed(1)} ms approved, ${median(without).toFixed(1)} ms with SWITCHBOARD_TRUST=all`,
    ],
  });
  return [
    row(`approvals' share of a start, ${SERVERS} in main file`, ms.mainFile, ms.mainFileAll),
    row(`the same, ${SERVERS} child files`, ms.files, ms.filesAll),
  ];
}

/** A clone, as far as Switchboard can tell, with everything in it approved. */
function commitAndApprove({ args, cwd, env }: Program): void {
  const git = (...words: string[]): void => run('git', words, cwd, env);
  git('init', '--quiet');
  git('add', '--all');
  run(process.execPath, [...args, 'trust', 'approve', '--all'], cwd, env);
}

function run(command: string, args: readonly string[], cwd: string, env: Program['env']): void {
  const { status, stderr } = spawnSync(command, args, { cwd, env, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${stderr}`);
}

function trusting(program: Program): Program {
  return { ...program, env: { ...program.env, SWITCHBOARD_TRUST: 'all' } };
}

/** Row 22. */
export async function measureGuardedCalls({ workspace, rounds, progress }: Bench): Promise<Row[]> {
  progress('calls with permissions and with an audit log');
  const permissions = { default: 'deny', allow: ['bench__echo'], deny: ['*__delete_*'] };
  await using plain = new Client(guarded(workspace, 'plain', {}));
  await using limited = new Client(guarded(workspace, 'limited', { permissions }));
  await using audited = new Client(guarded(workspace, 'audited', { audit: true }));
  await using both = new Client(guarded(workspace, 'both', { permissions, audit: true }));
  for (const client of [plain, limited, audited, both]) {
    await client.shakeHands();
    await client.callTool(SUITE, CALL); // it fails if a rule is wrong
  }
  const ms = await takeTurns(
    {
      plain: () => medianCall(plain),
      limited: () => medianCall(limited),
      audited: () => medianCall(audited),
      both: () => medianCall(both),
    },
    { rounds: rounds(50), warmUps: 20 },
  );
  const row = (what: string, taken: readonly number[]): Row => ({
    group: 22,
    what,
    measured: median(taken),
    unit: 'ms',
    against: { what: 'neither', value: median(ms.plain) },
    ratio: compare(taken, ms.plain),
    beside: [],
  });
  return [
    row('a small call, with permissions', ms.limited),
    row('a small call, with an audit log', ms.audited),
    row('a small call, with both', ms.both),
  ];
}

const SUITE = 'bench_suite';
const CALL = { action: 'call', subtool: 'echo', args: { message: 'ready' } };

/** Switchboard with these settings in the user's own file. */
function guarded(workspace: Workspace, name: string, settings: object): Program {
  const server: Server = { name: 'bench', description: 'measurements', args: [CHILD] };
  const program = workspace.switchboard(name, [server]);
  const file = workspace.write(`${name}-home/.switchboard/switchboard.config.json`, settings);
  return { ...program, env: { ...program.env, HOME: dirname(dirname(file)) } };
}

/** Milliseconds per call, the median of a block of them. */
async function medianCall(client: Client): Promise<number> {
  const times: number[] = [];
  for (let call = 0; call < BLOCK_CALLS; call++) {
    const json = client.format('tools/call', { name: SUITE, arguments: CALL });
    const begin = performance.now();
    await client.exchange(json);
    times.push(performance.now() - begin);
  }
  return median(times);
}
