// The environment of a server's process, in three classes. *Base*: what programs need to run, and where to find the
// user's desktop, keys agent and proxy. *Declared*: `env` and `passEnv`. *Ambient*: the rest of the session's variables.
// Sessions share a process only if they agree on what it would get, so variables that belong to one session are left
// out: with them, no two sessions would ever agree. docs/sharing.md lists them.
import type { ChildConfig } from '../config/config.ts';

/** Switchboard's own, such as the token for HTTP hosts. */
const OWN = /^SWITCHBOARD_.*(?:TOKEN|KEY|SECRET)$/i;

/** What Claude Code, Codex and VS Code pass to their own processes: sign-ins, session tokens, and where to find them. */
const HOST_CREDENTIALS =
  /^(?:CLAUDE_(?:\w+_)?TOKEN(?:_FILE(?:_DESCRIPTOR)?)?|CLAUDE_CODE_\w+_FILE_DESCRIPTOR|CLAUDE_CODE_HOST_CREDS_FILE|CLAUDE_CODE_MESSAGING_SOCKET|CODEX_(?:\w+_)?TOKEN|VSCODE_(?:\w+_)?TOKEN)$/i;

/** Different in every session of a host or a terminal. A trailing `*` stands for any characters. */
export const OF_ONE_SESSION = [
  // hosts
  'CLAUDECODE CLAUDE_CODE_* CLAUDE_SESSION_ID CLAUDE_ENV_FILE CLAUDE_PID',
  'CODEX_SANDBOX CODEX_SANDBOX_* CODEX_THREAD_ID CODEX_SESSION_* CODEX_INTERNAL_*',
  'GEMINI_CLI GEMINI_CLI_* GEMINI_SESSION_*',
  'VSCODE_* CURSOR_TRACE_ID CURSOR_SESSION_* CURSOR_AGENT ELECTRON_RUN_AS_NODE ELECTRON_NO_*',
  // Switchboard's marks on an agent's processes
  'SWITCHBOARD_AGENT_RUN SWITCHBOARD_RUN',
  // shells
  'PWD OLDPWD SHLVL _ COLUMNS LINES STARSHIP_SESSION_KEY P9K_* _P9K_*',
  // terminals, which a server doesn't have
  'TERM_SESSION_ID TERM_PROGRAM TERM_PROGRAM_VERSION COLORTERM WINDOWID WT_SESSION WT_PROFILE_ID',
  'ITERM_* LC_TERMINAL LC_TERMINAL_VERSION KITTY_* ALACRITTY_* WEZTERM_* GHOSTTY_* KONSOLE_*',
  'GNOME_TERMINAL_* VTE_VERSION TMUX TMUX_PANE STY WINDOW ZELLIJ ZELLIJ_* SSH_TTY GPG_TTY',
  // logins and services
  'SSH_CONNECTION SSH_CLIENT XDG_SESSION_ID XDG_VTNR SECURITYSESSIONID INVOCATION_ID JOURNAL_STREAM',
]
  .join(' ')
  .split(' ');

/** Different in every project, so a server that all projects share doesn't get them. */
export const OF_ONE_PROJECT = ['CLAUDE_PROJECT_DIR', 'DIRENV_*', 'INIT_CWD'];

/** What programs need to run, and where to find the user's desktop, keys and proxy. */
export const BASE = [
  'HOME PATH LANG LC_* USER LOGNAME SHELL TERM TMPDIR TZ XDG_*',
  'SSH_AUTH_SOCK DISPLAY WAYLAND_DISPLAY DBUS_SESSION_BUS_ADDRESS',
  'HTTP_PROXY HTTPS_PROXY NO_PROXY ALL_PROXY',
  'NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE CURL_CA_BUNDLE',
  // Windows
  'PATHEXT APPDATA LOCALAPPDATA PROGRAMDATA PROGRAMFILES PROGRAMFILES(X86) HOMEDRIVE HOMEPATH',
  'USERNAME USERPROFILE SYSTEMDRIVE SYSTEMROOT WINDIR COMSPEC TEMP TMP',
]
  .join(' ')
  .split(' ');

const isOfOneSession = matcher(OF_ONE_SESSION);
const isOfOneProject = matcher(OF_ONE_PROJECT);
const isBase = matcher(BASE);

export type Variables = Readonly<Record<string, string>>;

export interface EnvironmentClasses {
  readonly base: Variables;
  /** Those that `passEnv` names. */
  readonly passed: Variables;
  readonly ambient: Variables;
}

type Environed = Pick<ChildConfig, 'environment' | 'behind'> &
  Partial<Pick<ChildConfig, 'passEnv' | 'share'>>;

/**
 * `env` is the session's environment, `login` what the user's login shell exports, for servers with
 * `"environment": "login"`.
 */
export function classifyEnvironment(
  { environment, behind, passEnv = [], share }: Environed,
  env: NodeJS.ProcessEnv,
  login: NodeJS.ProcessEnv = {},
): EnvironmentClasses {
  const pick = (from: NodeJS.ProcessEnv, isWanted: (name: string) => boolean): Variables =>
    Object.fromEntries(
      Object.entries(from).flatMap(([name, value]) =>
        value !== undefined && isWanted(name) ? [[name, value]] : [],
      ),
    );
  const isPassed = (name: string): boolean => passEnv.includes(name);
  const isLeftOut = (name: string): boolean => {
    if (isPassed(name) || OWN.test(name)) return true;
    // An assistant's model may need the host's sign-in. The server behind it doesn't inherit it.
    if (behind !== undefined) return false;
    if (HOST_CREDENTIALS.test(name) || isOfOneSession(name)) return true;
    return share === 'user' && isOfOneProject(name);
  };
  const isCommon = (name: string): boolean => isBase(name) && !isLeftOut(name);
  const isRest = (name: string): boolean => !isBase(name) && !isLeftOut(name);
  const passed = pick(env, isPassed);
  const base = pick(env, isCommon);
  if (environment === 'minimal') return { base, passed, ambient: {} };
  if (environment === 'inherit') return { base, passed, ambient: pick(env, isRest) };
  return { base: { ...base, ...pick(login, isCommon) }, passed, ambient: pick(login, isRest) };
}

/** What a server inherits: all three classes. */
export function inheritedEnvironment(
  config: Environed,
  env: NodeJS.ProcessEnv,
  login?: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const { base, passed, ambient } = classifyEnvironment(config, env, login);
  return { ...ambient, ...base, ...passed };
}

/** For the other programs we start. `kept`: credentials of the host that this program needs to sign in. */
export function withoutCredentials(env: NodeJS.ProcessEnv, kept?: RegExp): NodeJS.ProcessEnv {
  const isWithheld = (name: string): boolean =>
    OWN.test(name) || (HOST_CREDENTIALS.test(name) && !kept?.test(name));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isWithheld(name)));
}

/** Case is ignored: on Windows it doesn't matter, and proxy settings are written in either. */
function matcher(patterns: readonly string[]): (name: string) => boolean {
  const exact = new Set(patterns.filter((pattern) => !pattern.endsWith('*')));
  const starts = patterns.flatMap((one) => (one.endsWith('*') ? one.slice(0, -1) : []));
  return (name) => {
    const upper = name.toUpperCase();
    return exact.has(upper) || starts.some((start) => upper.startsWith(start));
  };
}
