// One Switchboard for many hosts, which reach it over HTTP.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { PROGRAM, type Project } from '../../support/project.ts';
import { REQUEST_MS } from './hosts.ts';

/** Starts it in a project; `atEnd` is told how to end it. */
export async function startShared(
  project: Project,
  atEnd: (leave: () => Promise<void>) => void,
): Promise<{ url: string }> {
  const args = [PROGRAM, 'serve', '--http', '--port', '0', '--no-auth'];
  const program = spawn(process.execPath, args, {
    cwd: project.dir,
    env: project.env,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(program, 'exit');
  atEnd(async () => {
    program.kill('SIGTERM');
    await ended;
  });
  let said = '';
  const url = new Promise<string>((resolve) => {
    program.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      const [, address] = /over HTTP at (http:\S+)/.exec(said) ?? [];
      if (address !== undefined) resolve(address);
    });
  });
  const late = new Promise<undefined>((resolve) => {
    setTimeout(() => resolve(undefined), REQUEST_MS).unref();
  });
  const address = await Promise.race([url, ended.then(() => undefined), late]);
  if (address === undefined) throw new Error(`Switchboard does not serve HTTP. It said: ${said}`);
  return { url: address };
}
