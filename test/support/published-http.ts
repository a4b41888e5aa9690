// The published "everything" server over HTTP, as a separate process.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { publishedServer } from './servers.ts';

const PATHS = { streamableHttp: 'mcp', sse: 'sse' };

export interface PublishedHttp {
  readonly url: string;
  stop(): Promise<void>;
}

/** Listens on this port, or on any free one. */
export async function startEverything(
  transport: 'streamableHttp' | 'sse',
  port?: number,
): Promise<PublishedHttp> {
  // Another program may have taken the port meanwhile.
  for (let tries = port === undefined ? 5 : 1; tries > 0; tries--) {
    const started = await startAt(transport, port ?? (await freePort()));
    if (started) return started;
  }
  throw new Error('The server does not start.');
}

/** Undefined if it exits instead of listening. */
async function startAt(
  transport: 'streamableHttp' | 'sse',
  port: number,
): Promise<PublishedHttp | undefined> {
  const { command, args } = publishedServer('everything', transport);
  const env = { ...process.env, PORT: String(port) };
  const server = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(server, 'exit');
  const listens = new Promise<boolean>((resolve) => {
    let said = '';
    server.stderr.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (/on port \d+/.test(said)) resolve(true);
    });
    void exited.then(() => resolve(false));
  });
  const stop = async (): Promise<void> => {
    server.kill('SIGKILL');
    await exited;
  };
  if (await listens) return { url: `http://127.0.0.1:${port}/${PATHS[transport]}`, stop };
  await stop();
  return undefined;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
