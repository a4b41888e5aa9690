// The published "everything" server over HTTP, as a process of its own.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { publishedServer } from './servers.ts';

export interface PublishedHttp {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startEverything(
  transport: 'streamableHttp' | 'sse',
  port?: number,
): Promise<PublishedHttp> {
  const { command, args } = publishedServer('everything', transport);
  const wanted = port ?? (await freePort());
  const env = { ...process.env, PORT: String(wanted) };
  const server = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = once(server, 'exit');
  await new Promise<void>((resolve) => {
    let said = '';
    server.stderr.on('data', (piece: Buffer) => {
      said += piece.toString();
      if (/on port \d+/.test(said)) resolve();
    });
  });
  return {
    url: `http://127.0.0.1:${wanted}/${transport === 'sse' ? 'sse' : 'mcp'}`,
    stop: async () => {
      server.kill('SIGKILL');
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
