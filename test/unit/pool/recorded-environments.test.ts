// Which sessions share a server, with the environments that real hosts were seen to give theirs: 20 variables were set
// in the terminal before each of them was started.
import { expect, test } from 'vitest';
import type { ChildConfig } from '../../../src/config/config.ts';
import { fitsBase, processIdentity } from '../../../src/pool/process-identity.ts';
import { childConfig } from '../../support/child-config.ts';

const TERMINAL = {
  HOME: '/home/ann',
  LANG: 'en_US.UTF-8',
  PATH: '/usr/local/bin:/usr/bin:/bin',
  SHELL: '/bin/zsh',
  TERM: 'xterm-256color',
  TMPDIR: '/tmp',
  USER: 'ann',
  LOGNAME: 'ann',
  PWD: '/home/ann/work',
  SHLVL: '2',
  TERM_SESSION_ID: 'w0t1p0',
  TERM_PROGRAM: 'iTerm.app',
  COLORTERM: 'truecolor',
  SSH_AUTH_SOCK: '/run/user/1000/agent',
  GITHUB_TOKEN: 'ghp_of_ann',
  GIT_AUTHOR_NAME: 'Ann',
  AWS_PROFILE: 'work',
  KUBECONFIG: '/home/ann/.kube/config',
  EDITOR: 'vim',
  HTTPS_PROXY: 'http://proxy:8080',
};

const pick = (names: readonly string[]) =>
  Object.fromEntries(Object.entries(TERMINAL).filter(([name]) => names.includes(name)));
const without = (names: readonly string[]) =>
  Object.fromEntries(Object.entries(TERMINAL).filter(([name]) => !names.includes(name)));

/** Passes on everything, and much of its own, which differs in every session. */
const claude = (session: string, project: string) => ({
  ...TERMINAL,
  TERM_SESSION_ID: `terminal of ${session}`,
  SHLVL: session,
  PWD: project,
  CLAUDECODE: '1',
  CLAUDE_CODE_ENTRYPOINT: 'cli',
  CLAUDE_CODE_SESSION_ID: session,
  CLAUDE_CODE_MESSAGING_SOCKET: `/tmp/${session}.sock`,
  CLAUDE_CODE_MESSAGING_TOKEN: `messaging-${session}`,
  CLAUDE_PROJECT_DIR: project,
  ANTHROPIC_API_KEY: 'sk-ant-of-ann',
});

/** Passes on seven variables. */
const codex = pick(['HOME', 'LANG', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'USER']);

/** Drops what looks like a credential or an identity. */
const gemini = {
  ...without(['GITHUB_TOKEN', 'SSH_AUTH_SOCK', 'GIT_AUTHOR_NAME']),
  GEMINI_CLI: '1',
};

const WORK = '/home/ann/work';
const SESSIONS = {
  'Claude 1': { env: claude('1', WORK), project: WORK },
  'Claude 2': { env: claude('2', WORK), project: WORK },
  'Claude 3, elsewhere': { env: claude('3', '/home/ann/other'), project: '/home/ann/other' },
  'Codex 1': { env: codex, project: WORK },
  'Codex 2': { env: codex, project: WORK },
  'Gemini 1': { env: gemini, project: WORK },
  'Gemini 2': { env: gemini, project: WORK },
};
type SessionName = keyof typeof SESSIONS;

const LOGIN = without(['PWD', 'SHLVL', 'TERM_SESSION_ID', 'GITHUB_TOKEN']);

/** The sessions, in groups that share a process. */
function sharersOf(some: Partial<ChildConfig>): SessionName[][] {
  const config = childConfig({ name: 'box', share: 'user', ...some });
  const identified = (Object.keys(SESSIONS) as SessionName[]).map((name, session) => {
    const { env, project } = SESSIONS[name];
    const parts = { env, variables: env, login: LOGIN, project, home: '/home', session };
    return { name, identity: processIdentity(config, parts) };
  });
  const groups: (typeof identified)[] = [];
  for (const one of identified) {
    const group = groups.find(([first]) => {
      if (!first) return false;
      const { key, base } = first.identity;
      return key === one.identity.key && fitsBase(base, one.identity.base);
    });
    if (group) group.push(one);
    else groups.push([one]);
  }
  return groups.map((group) => group.map(({ name }) => name));
}

const CLAUDE: SessionName[] = ['Claude 1', 'Claude 2', 'Claude 3, elsewhere'];
const CODEX: SessionName[] = ['Codex 1', 'Codex 2'];
const GEMINI: SessionName[] = ['Gemini 1', 'Gemini 2'];
const EVERYONE = [[...CLAUDE, ...CODEX, ...GEMINI]];

test.each<[how: string, config: Partial<ChildConfig>, sharers: SessionName[][]]>([
  ['inherit: the sessions of one host', { environment: 'inherit' }, [CLAUDE, CODEX, GEMINI]],
  ['minimal: everyone', { environment: 'minimal' }, EVERYONE],
  ['login: everyone', { environment: 'login' }, EVERYONE],
  [
    'a variable that Codex drops, with minimal',
    { environment: 'minimal', passEnv: ['AWS_PROFILE'] },
    [[...CLAUDE, ...GEMINI], CODEX],
  ],
  [
    'the same, with login',
    { environment: 'login', passEnv: ['AWS_PROFILE'] },
    [[...CLAUDE, ...GEMINI], CODEX],
  ],
  [
    'a token that only Claude Code passes on',
    { environment: 'minimal', passEnv: ['GITHUB_TOKEN'] },
    [CLAUDE, [...CODEX, ...GEMINI]],
  ],
  [
    'a variable that everyone has',
    { environment: 'minimal', passEnv: ['USER', 'NOT_SET'] },
    EVERYONE,
  ],
  [
    'a variable of one session: nobody else',
    { environment: 'minimal', passEnv: ['CLAUDE_CODE_SESSION_ID'] },
    [...CLAUDE.map((one) => [one]), [...CODEX, ...GEMINI]],
  ],
  [
    'a variable of one project',
    { environment: 'inherit', passEnv: ['CLAUDE_PROJECT_DIR'] },
    [CLAUDE.slice(0, 2), CLAUDE.slice(2), CODEX, GEMINI],
  ],
  [
    'inherit, one process per project',
    { environment: 'inherit', share: 'project' },
    [CLAUDE.slice(0, 2), CLAUDE.slice(2), CODEX, GEMINI],
  ],
  [
    'minimal, one process per project',
    { environment: 'minimal', share: 'project' },
    [[...CLAUDE.slice(0, 2), ...CODEX, ...GEMINI], CLAUDE.slice(2)],
  ],
])('%s', (_how, config, sharers) => {
  expect(sharersOf(config)).toEqual(sharers);
});
