// Row 15: a small call over HTTP, with and without Switchboard. The same server on the official SDK is called in
// three ways: at its own URL; through Switchboard, which runs it as a process; and through Switchboard, which
// reaches it at that URL. The host is the SDK's client each time. The figures of a minimal host, which adds less to
// both sides, are shown next to it.
import type { HostEra } from './host.ts';
import { type Connect, connectBare, connectSdk, type HttpHost } from './http-hosts.ts';
import { overHttp, startHttp } from './http-program.ts';
import { compare, formatTimes, type Measure, median, takeTurns } from './measure.ts';
import type { Bench, Row } from './row.ts';
import { SDK_SERVER } from './workspace.ts';

const BLOCK_CALLS = 50;
const SERVER = 'bench';

type Way = 'direct' | 'process' | 'address';
type Taken = Record<`${Way} ${'sdk' | 'bare'}`, number[]>;

export async function measureHttpCalls(bench: Bench): Promise<Row[]> {
  bench.progress('calls over HTTP');
  const { workspace } = bench;
  const server = { name: SERVER, description: 'measurements', args: [SDK_SERVER] };
  await using direct = await startHttp(workspace.script(SDK_SERVER, '--http'));
  await using process = await startHttp(overHttp(workspace.switchboard('http', [server])));
  await using address = await startHttp(
    overHttp(workspace.switchboardWithRemote('http-remote', SERVER, direct.url)),
  );
  const urls = { direct: direct.url, process: process.url, address: address.url };
  const rows: Row[] = [];
  for (const era of ['handshake', 'modern'] as const) {
    const ms = await timeCalls(bench, urls, era);
    rows.push(
      callRow(`a small call over HTTP, ${era} host`, ms, 'process'),
      callRow('the same, remote server', ms, 'address'),
    );
  }
  return rows;
}

function callRow(what: string, ms: Taken, way: 'process' | 'address'): Row {
  const bare = ms[`${way} bare`];
  return {
    group: 15,
    what,
    measured: median(ms[`${way} sdk`]),
    unit: 'ms',
    against: { what: 'direct', value: median(ms['direct sdk']) },
    ratio: compare(ms[`${way} sdk`], ms['direct sdk']),
    budget: { most: 2 },
    beside: [
      `a bare host: ${median(bare).toFixed(3)} ms, directly ${median(ms['direct bare']).toFixed(3)} ms, which is ${formatTimes(bare, ms['direct bare'])}; against the SDK's client directly ${formatTimes(bare, ms['direct sdk'])}`,
    ],
  };
}

async function timeCalls(
  { rounds }: Bench,
  urls: Readonly<Record<Way, string>>,
  era: HostEra,
): Promise<Taken> {
  const hosts: HttpHost[] = [];
  const open = async (connect: Connect, way: Way): Promise<Measure> => {
    const host = await connect(urls[way], era);
    hosts.push(host);
    const call = way === 'direct' ? callDirectly(host) : callThrough(host);
    return () => medianCall(call);
  };
  const variants = {
    'direct sdk': await open(connectSdk, 'direct'),
    'process sdk': await open(connectSdk, 'process'),
    'address sdk': await open(connectSdk, 'address'),
    'direct bare': await open(connectBare, 'direct'),
    'process bare': await open(connectBare, 'process'),
    'address bare': await open(connectBare, 'address'),
  };
  const taken = await takeTurns(variants, { rounds: rounds(25), warmUps: 10 });
  for (const host of hosts) await host[Symbol.asyncDispose]();
  return taken;
}

type Call = (message: string) => Promise<string>;

function callDirectly(host: HttpHost): Call {
  return (message) => host.callTool('echo', { message });
}

function callThrough(host: HttpHost): Call {
  return (message) =>
    host.callTool(`${SERVER}_suite`, { action: 'call', subtool: 'echo', args: { message } });
}

/** Milliseconds per call, the median of a block of them; fails unless each answer is correct. */
async function medianCall(call: Call): Promise<number> {
  const times: number[] = [];
  for (let count = 0; count < BLOCK_CALLS; count++) {
    const message = `call ${count}`;
    const begin = performance.now();
    const result = await call(message);
    times.push(performance.now() - begin);
    if (!result.includes(`"${message}"`)) throw new Error(`Answered wrongly: ${result}`);
  }
  return median(times);
}
