// `switchboard login <server>` and `switchboard logout <server>`: signs in to a remote server in the browser, and out
// again.
import { SwitchboardError } from '../../base/errors.ts';
import { openInBrowser } from '../../base/process.ts';
import { cleanText, formatDuration, printable } from '../../base/text.ts';
import { type ChildConfig, type Config, type Remote, tokenFolder } from '../../config/config.ts';
import { findFolders } from '../../config/files/places.ts';
import { expandRemote } from '../../config/server/expand.ts';
import { askRunning } from '../../host/control-client.ts';
import { openSecrets } from '../../trust/secrets/open.ts';
import { createOutput, type Output } from '../terminal/output.ts';
import { Progress } from '../terminal/progress.ts';
import { workingFolder } from '../working-folder.ts';
import { type CommandOptions, chosenChild, withSwitchboard } from './with-switchboard.ts';

const RELOAD_MS = 5_000;

export interface LoginOptions extends CommandOptions {
  /** False with `--no-browser`. */
  readonly browser?: boolean | undefined;
}

export async function login(childName: string, options: LoginOptions): Promise<number> {
  const output = createOutput(options);
  const { env } = process;
  const signedIn = await withSwitchboard(
    { ...options, assistants: false },
    async ({ config, cancellation }) => {
      const { url, headers, oauth } = await addressOf(config, childName, env);
      const openSeal = () => openSecrets(config, env).store.sealer();
      // Lazy: it loads the SDK.
      const { signIn } = await import('../../child/sign-in/sign-in.ts');
      using progress = new Progress();
      const openPage = async (address: URL, issuer: string): Promise<void> => {
        const isOpen = options.browser !== false && (await openInBrowser(address, env));
        say(output, invitation(childName, issuer, isOpen));
        say(output, `  ${cleanText(address.href)}`);
      };
      const folder = tokenFolder(config);
      return await progress.during(
        `your sign-in to ${childName}`,
        signIn({
          childName,
          url,
          headers,
          oauth,
          folder,
          cancellation,
          env,
          visit: openPage,
          openSeal,
        }),
      );
    },
  );
  if (!signedIn) {
    output.json({ child: childName, signedIn: false, wantsSignIn: false });
    output.line(`Server "${printable(childName)}" doesn't require signing in.`);
    return 0;
  }
  await reloadRunning();
  const { issuer, scope, expiresAt, refreshToken } = signedIn;
  const isRenewed = refreshToken !== undefined;
  output.json({
    child: childName,
    signedIn: true,
    wantsSignIn: true,
    issuer,
    scope,
    expiresAt: expiresAt === undefined ? undefined : new Date(expiresAt).toISOString(),
    isRenewed,
  });
  const lasts =
    expiresAt === undefined
      ? ''
      : ` The token is valid for ${formatDuration(Math.max(0, expiresAt - Date.now()))}`;
  const renewal = isRenewed ? ' and is renewed automatically.' : '. Sign in again after that.';
  output.line(
    `${output.style('green', '✓')} Signed in to server "${printable(childName)}".${lasts === '' ? '' : lasts + renewal}`,
  );
  return 0;
}

export async function logout(childName: string, options: CommandOptions): Promise<number> {
  const output = createOutput(options);
  const { env } = process;
  const { wasSignedIn, revoked, note } = await withSwitchboard(
    { ...options, assistants: false },
    async ({ config, cancellation }) => {
      const { url } = await addressOf(config, childName, env);
      const openSeal = () => openSecrets(config, env).store.sealer();
      const { signOut } = await import('../../child/sign-in/sign-out.ts');
      using progress = new Progress();
      return await progress.during(
        `signing out of ${childName}`,
        signOut({ childName, url, folder: tokenFolder(config), cancellation, env, openSeal }),
      );
    },
  );
  output.json({ child: childName, wasSignedIn, revoked, note });
  const name = printable(childName);
  output.line(
    wasSignedIn ? `Signed out of server "${name}".` : `You were not signed in to server "${name}".`,
  );
  if (note !== undefined) {
    output.line(output.style('yellow', `note: the tokens were not revoked: ${note}`));
  }
  return 0;
}

/** Running Switchboard processes may have given up on the server, so make them retry. */
async function reloadRunning(): Promise<void> {
  const { home } = findFolders({ cwd: workingFolder(), env: process.env });
  await askRunning(home, 'reload', RELOAD_MS);
}

/** The server's remote, with variables and secrets expanded. */
async function addressOf(
  config: Config,
  childName: string,
  env: NodeJS.ProcessEnv,
): Promise<Remote> {
  const child = chosenChild(config, childName);
  checkRemote(child);
  const variables = await openSecrets(config, env).lookup.variablesFor(child);
  const remote = expandRemote(child, variables);
  if (/^https?:/i.test(remote.url) && URL.canParse(remote.url)) return remote;
  throw new SwitchboardError(
    'CHILD_NOT_CONFIGURED',
    `The "url" of server "${childName}" is not an http or https URL.`,
    { hint: `Correct it in ${child.origin}.` },
  );
}

/** Throws if the server doesn't support signing in. */
function checkRemote({ name, origin, remote, problem }: ChildConfig): void {
  const unsupported = (what: string, hint: string) =>
    new SwitchboardError('CHILD_NOT_CONFIGURED', `Server "${name}" ${what}.`, { hint });
  if (!remote) {
    throw problem ?? unsupported('runs locally', 'Only servers with a "url" support signing in.');
  }
  if (remote.type === 'ws') {
    throw unsupported(
      "uses WebSocket, which doesn't support signing in",
      `Set the headers it requires under "headers" in ${origin}.`,
    );
  }
  if (Object.keys(remote.headers).some((header) => header.toLowerCase() === 'authorization')) {
    throw unsupported(
      'has an Authorization header, which takes precedence over signing in',
      `To sign in instead, remove the header in ${origin}.`,
    );
  }
}

/** With --json, stdout contains only the JSON document. */
function say(output: Output, line: string): void {
  if (output.isJson) process.stderr.write(`${line}\n`);
  else output.line(line);
}

function invitation(childName: string, issuer: string, isOpen: boolean): string {
  const target = `server "${printable(childName)}" at ${cleanText(issuer)}`;
  return isOpen
    ? `Sign in to ${target} in your browser. If it doesn't open, go to:`
    : `To sign in to ${target}, open:`;
}
