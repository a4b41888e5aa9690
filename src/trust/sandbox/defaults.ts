// What a sandbox hides and opens without any settings: places with keys and sign-ins are hidden, the project and caches
// can be changed, and files that make other programs run something can't.
import { dirname, join } from 'node:path';
import { makeFolder } from '../../base/make-folder.ts';
import type { Command } from '../../config/config.ts';
import { runnerOf } from '../../config/server/runners.ts';

export type SandboxSystem = 'linux' | 'darwin';

export interface SandboxPlaces {
  readonly system: SandboxSystem;
  readonly project: string;
  /** The server's working directory. It can change it if it's in the project. */
  readonly cwd: string;
  /** The user's home. */
  readonly homeFolder: string;
  /** `$SWITCHBOARD_HOME`. */
  readonly home: string;
  /** Switchboard's own environment. A server's could open any folder. */
  readonly env: NodeJS.ProcessEnv;
}

export interface HiddenPlace {
  readonly path: string;
  /** Hides everything whose path starts like this. */
  readonly isPrefix?: boolean;
}

/** Below the home directory. */
const SECRETS = ['.ssh', '.aws', '.gnupg', '.netrc', '.kube', '.docker', '.codex'];

/** Browser profiles below `~/.config`. */
const BROWSERS_IN_CONFIG = [
  'google-chrome',
  'google-chrome-beta',
  'google-chrome-unstable',
  'chromium',
  'BraveSoftware',
  'microsoft-edge',
  'vivaldi',
  'opera',
];
/** Others, from packages, snap and Flatpak. */
const BROWSERS_IN_HOME = [
  '.mozilla',
  '.librewolf',
  '.zen',
  'snap/firefox',
  'snap/chromium',
  '.var/app/org.mozilla.firefox',
  '.var/app/org.chromium.Chromium',
  '.var/app/com.google.Chrome',
  '.var/app/com.brave.Browser',
  '.var/app/com.microsoft.Edge',
];
const BROWSERS_ON_MAC = [
  'Safari',
  'Cookies',
  'Application Support/Google/Chrome',
  'Application Support/Chromium',
  'Application Support/Firefox',
  'Application Support/BraveSoftware',
  'Application Support/Microsoft Edge',
  'Application Support/Vivaldi',
  'Application Support/Arc',
  'Application Support/com.operasoftware.Opera',
];

/** Variables that move one of these places. */
const MOVED = ['GNUPGHOME', 'DOCKER_CONFIG', 'GH_CONFIG_DIR', 'CODEX_HOME', 'CLAUDE_CONFIG_DIR'];

/** Through these sockets, other programs would act for the server outside of the sandbox. */
const SOCKETS = ['/run/user', '/run/docker.sock', '/run/podman', '/run/containerd'];

export function hiddenByDefault({ system, homeFolder, home, env }: SandboxPlaces): HiddenPlace[] {
  const config = env['XDG_CONFIG_HOME'] || join(homeFolder, '.config');
  const inHome = [...SECRETS, ...BROWSERS_IN_HOME].map((name) => join(homeFolder, name));
  const inConfig = ['gh', ...BROWSERS_IN_CONFIG].map((name) => join(config, name));
  const onMac = BROWSERS_ON_MAC.map((name) => join(homeFolder, 'Library', name));
  const named = [...MOVED, 'XDG_RUNTIME_DIR', 'SSH_AUTH_SOCK'].flatMap((name) => env[name] || []);
  const absolute = named.filter((path) => path.startsWith('/'));
  const paths = [
    ...inHome,
    ...inConfig,
    ...(system === 'darwin' ? [...onMac, '/var/run/docker.sock'] : SOCKETS),
    ...absolute,
    home,
  ];
  return [
    ...paths.map((path) => ({ path })),
    { path: join(homeFolder, '.claude'), isPrefix: true },
  ];
}

/** Empty and the server's own on Linux; macOS can't replace a folder, so there it's the real one. */
export function privateByDefault({ system, env }: SandboxPlaces): string[] {
  const temporary = env['TMPDIR'];
  if (system === 'linux') return ['/tmp', '/var/tmp', ...(temporary ? [temporary] : [])];
  // Next to a user's temporary folder, macOS has one for caches.
  return ['/tmp', ...(temporary ? [temporary, join(dirname(temporary), 'C')] : [])];
}

/** Caches, each with the package runners that need it. */
function cachesOf({ system, homeFolder, env }: SandboxPlaces): [string, readonly string[]][] {
  const inHome = (path: string) => join(homeFolder, path);
  const npm = env['npm_config_cache'] || env['NPM_CONFIG_CACHE'] || inHome('.npm');
  const uv: [string, string[]][] = env['UV_CACHE_DIR']
    ? [[env['UV_CACHE_DIR'], ['uv', 'uvx']]]
    : [];
  return [
    [env['XDG_CACHE_HOME'] || inHome('.cache'), ['uv', 'uvx', 'pipx', 'pnpm', 'pnpx', 'yarn']],
    [npm, ['npx', 'npm']],
    [inHome('.bun/install/cache'), ['bun', 'bunx']],
    [inHome('.local/share/uv'), ['uv', 'uvx']],
    [inHome('.local/share/pipx'), ['pipx']],
    [inHome('.local/share/pnpm'), ['pnpm', 'pnpx']],
    [inHome('.yarn/berry'), ['yarn']],
    ...uv,
    ...(system === 'darwin' ? [[inHome('Library/Caches'), []] as [string, string[]]] : []),
  ];
}

export function writableCaches(places: SandboxPlaces): string[] {
  return cachesOf(places).map(([folder]) => folder);
}

/** Creates the caches that a package runner needs. In the sandbox, it couldn't. */
export function prepareCaches(command: Pick<Command, 'cmd' | 'args'>, places: SandboxPlaces): void {
  const runner = runnerOf({ ...command, env: {} });
  if (runner === undefined) return;
  for (const [folder, runners] of cachesOf(places)) {
    if (!runners.includes(runner)) continue;
    try {
      makeFolder(folder);
    } catch {
      // The runner explains it better, if it needs the folder at all.
    }
  }
}

/** In the project: files that make git, Switchboard or a host run something outside of the sandbox. */
const PROTECTED = [
  '.git/config',
  '.git/hooks',
  '.mcp.json',
  '.switchboard',
  'mcps',
  ...['json', 'jsonc', 'js', 'cjs', 'mjs'].map((end) => `switchboard.config.${end}`),
];

export function protectedInProject(project: string, cwd: string): string[] {
  return [...PROTECTED.map((name) => join(project, name)), join(cwd, '.mcp.json')];
}
