// Row 16: a hundred hosts that connect over HTTP at once, each with its own session, list and call. The result is
// whether all of them are served; the time until the last one is served is shown next to it. Each round has a new
// Switchboard that hasn't started its server yet.
import type { HostEra } from './host.ts';
import { connectSdk } from './http-hosts.ts';
import { overHttp, startHttp } from './http-program.ts';
import { median, timeOf } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { SDK_SERVER } from './workspace.ts';

const HOSTS = 100;

export async function measureCrowd(bench: Bench): Promise<Row[]> {
  bench.progress(`${HOSTS} hosts at once over HTTP`);
  return [await crowdRow(bench, 'handshake'), await crowdRow(bench, 'modern')];
}

async function crowdRow({ workspace, rounds }: Bench, era: HostEra): Promise<Row> {
  const server = { name: 'bench', description: 'measurements', args: [SDK_SERVER] };
  const program = overHttp(workspace.switchboard('http-crowd', [server]));
  const direct = workspace.script(SDK_SERVER, '--http');
  const times: Record<'through' | 'direct', number[]> = { through: [], direct: [] };
  const failures: string[] = [];
  let fewest = HOSTS;
  const count = rounds(5);
  for (let round = 0; round < count; round++) {
    await using switchboard = await startHttp(program);
    await using alone = await startHttp(direct);
    const begin = performance.now();
    const failed = await visitAll(switchboard.url, era, (message) => ({
      name: 'bench_suite',
      args: { action: 'call', subtool: 'echo', args: { message } },
    }));
    times.through.push(performance.now() - begin);
    fewest = Math.min(fewest, HOSTS - failed.length);
    failures.push(...failed);
    times.direct.push(
      await timeOf(() =>
        visitAll(alone.url, era, (message) => ({ name: 'echo', args: { message } })),
      ),
    );
  }
  const [failure] = failures;
  return {
    group: 16,
    what: `${HOSTS} ${era} hosts at once, served`,
    measured: fewest,
    unit: 'hosts',
    budget: { least: HOSTS },
    beside: [
      `all within ${median(times.through).toFixed(0)} ms, with the server's start; a server on the SDK alone, without Switchboard, which runs already: ${median(times.direct).toFixed(0)} ms`,
      ...(failure === undefined ? [] : [`the first failure: ${failure}`]),
    ],
  };
}

type CallOf = (message: string) => { readonly name: string; readonly args: object };

/** All at once; returns the failures. */
async function visitAll(url: string, era: HostEra, callOf: CallOf): Promise<string[]> {
  const visits = Array.from({ length: HOSTS }, async (_, index) => {
    await using host = await connectSdk(url, era);
    await host.listTools();
    const message = `host ${index}`;
    const { name, args } = callOf(message);
    const result = await host.callTool(name, args);
    if (!result.includes(`"${message}"`)) throw new Error(`Answered wrongly: ${result}`);
  });
  const settled = await Promise.allSettled(visits);
  return settled.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
}
