// A program that serves MCP over HTTP. It prints its URL on stderr, and runs until it's stopped.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { live, type Program } from './client.ts';

const ADDRESS = /http:\/\/127\.0\.0\.1:\d+\/mcp/;
/** How long it may take to exit after a signal. */
const EXIT_MS = 10_000;

export interface HttpProgram extends AsyncDisposable {
  readonly url: string;
}

/** Starts it and waits until it can be reached. */
export async function startHttp({ args, cwd, env }: Program): Promise<HttpProgram> {
  const child = spawn(process.execPath, [...args], {
    cwd,
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  const program = {
    async [Symbol.asyncDispose](): Promise<void> {
      live.delete(program);
      const kill = setTimeout(() => child.kill('SIGKILL'), EXIT_MS);
      child.kill('SIGTERM');
      await exited;
      clearTimeout(kill);
    },
  };
  live.add(program);
  return Object.assign(program, { url: await addressOf(child, args) });
}

/** Switchboard serving many hosts. */
export function overHttp(program: Program): Program {
  return { ...program, args: [...program.args, 'serve', '--http', '--no-auth', '--port', '0'] };
}

function addressOf(
  child: ChildProcess & { readonly stderr: Readable },
  args: readonly string[],
): Promise<string> {
  let said = '';
  return new Promise((resolve, reject) => {
    child.stderr.on('data', (chunk: Buffer) => {
      said = (said + chunk.toString()).slice(-2_000);
      const url = ADDRESS.exec(said)?.[0];
      if (url !== undefined) resolve(url);
    });
    child.once('exit', () => reject(new Error(`${args.join(' ')} ended.\n${said}`)));
  });
}
