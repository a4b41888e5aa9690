// What an agent says about its run, as the engine is told it: what is said, and nothing that is not.
import { describe, expect, test } from 'vitest';
import type { RunFields } from '../../../../src/agents/agent.ts';
import { readCodexConfig } from '../../../../src/agents/codex/codex-config.ts';
import {
  processArguments,
  type ThreadOptions,
  threadParameters,
  turnSandbox,
  wantsPatch,
} from '../../../../src/agents/codex/thread.ts';
import { attachedServer, plainAgent } from '../../../support/agents.ts';

const codexConfig = (config: object) => readCodexConfig({ config });
const options = (said: Partial<ThreadOptions> = {}): ThreadOptions => ({
  agent: plainAgent(),
  cwd: '/folder',
  servers: [],
  environment: {},
  codexConfig: codexConfig({}),
  builtinsDefault: 'off',
  timeoutMs: 1_800_000,
  ...said,
});
const withRun = (run: RunFields) => threadParameters(options({ agent: plainAgent({ run }) }));
const configOf = (params: Record<string, unknown>) => params['config'] as Record<string, unknown>;
const serversOf = (said: Partial<ThreadOptions>) =>
  configOf(threadParameters(options(said)))['mcp_servers'];

test('an agent without settings sets only what is switched off for all', () => {
  expect(threadParameters(options())).toEqual({
    cwd: '/folder',
    ephemeral: true,
    experimentalRawEvents: true,
    serviceName: 'some_agent',
    config: {
      agents: { enabled: false },
      tools: {
        update_plan: { enabled: false },
        experimental_request_user_input: { enabled: false },
      },
      features: {
        goals: false,
        view_image: false,
        apps: false,
        plugins: false,
        shell_snapshot: false,
      },
      web_search: 'disabled',
    },
  });
  expect(processArguments({ run: {}, catalogFile: undefined, isKeyOurs: false })).toEqual([
    'app-server',
  ]);
});

test('built-in tools left to the engine are not mentioned', () => {
  expect(configOf(threadParameters(options({ builtinsDefault: 'engine' })))).toEqual({
    agents: { enabled: false },
    tools: { experimental_request_user_input: { enabled: false } },
    features: { goals: false, apps: false, plugins: false, shell_snapshot: false },
  });
  expect(wantsPatch({}, 'engine')).toBeUndefined();
  expect(wantsPatch({}, 'off')).toBe(false);
});

test('an agent can set everything', () => {
  const run: RunFields = {
    model: 'gpt-5',
    provider: 'openai',
    approvals: 'never',
    disableStorage: true,
    effort: 'xhigh',
    summary: 'concise',
    verbosity: 'low',
    baseUrl: 'https://example.com/"x"',
    sandbox: 'workspace-write',
    builtins: { plan: true, apply_patch: true, view_image: true, web_search: true },
  };
  const agent = plainAgent({ run, instructions: 'Be brief.' });
  expect(threadParameters(options({ agent }))).toEqual({
    cwd: '/folder',
    ephemeral: true,
    experimentalRawEvents: true,
    serviceName: 'some_agent',
    baseInstructions: 'Be brief.',
    model: 'gpt-5',
    modelProvider: 'openai',
    approvalPolicy: 'never',
    sandbox: 'read-only',
    config: {
      model_reasoning_effort: 'xhigh',
      model_reasoning_summary: 'concise',
      model_verbosity: 'low',
      web_search: 'live',
      agents: { enabled: false },
      tools: {
        update_plan: { enabled: true },
        experimental_request_user_input: { enabled: false },
      },
      features: {
        goals: false,
        view_image: true,
        apps: false,
        plugins: false,
        shell_snapshot: false,
      },
    },
  });
  expect(turnSandbox(options({ agent }))).toMatchObject({
    sandboxPolicy: { type: 'workspaceWrite' },
  });
  expect(processArguments({ run, catalogFile: '/c.json', isKeyOurs: true })).toEqual([
    'app-server',
    '-c',
    'model_provider="openai"',
    '-c',
    'chatgpt_base_url="https://example.com/\\"x\\""',
    '-c',
    'model_catalog_json="/c.json"',
    '-c',
    'cli_auth_credentials_store="ephemeral"',
  ]);
  expect(wantsPatch(run, 'engine')).toBe(true);
});

test('a removed approval policy becomes its successor', () => {
  expect(withRun({ approvals: 'on-failure' })).toMatchObject({ approvalPolicy: 'on-request' });
});

describe('the sandbox', () => {
  const said = (sandbox: RunFields['sandbox'], config: object = {}) => {
    const run = sandbox === undefined ? {} : { sandbox };
    const all = options({ agent: plainAgent({ run }), codexConfig: codexConfig(config) });
    const { sandbox: ofThread, config: settings } = threadParameters(all);
    return { sandbox: ofThread, ...turnSandbox(all), settings };
  };
  const plain = configOf(threadParameters(options()));
  const workspaceWrite = {
    type: 'workspaceWrite',
    writableRoots: [],
    networkAccess: false,
    excludeTmpdirEnvVar: false,
    excludeSlashTmp: false,
  };

  test('is not mentioned if it is not set', () => {
    expect(said(undefined)).toEqual({ sandbox: undefined, settings: plain });
  });

  test('read-only belongs to the thread', () => {
    expect(said('read-only')).toEqual({ sandbox: 'read-only', settings: plain });
  });

  test('with write access belongs to the turn: in a thread it would trust the folder', () => {
    expect(said('workspace-write')).toEqual({
      sandbox: 'read-only',
      sandboxPolicy: workspaceWrite,
      settings: plain,
    });
    expect(said('danger-full-access')).toEqual({
      sandbox: 'read-only',
      sandboxPolicy: { type: 'dangerFullAccess' },
      settings: plain,
    });
  });

  test('from the user’s configuration applies if the agent sets none, with all its options', () => {
    const config = {
      sandbox_mode: 'workspace-write',
      sandbox_workspace_write: { writable_roots: ['/more'], network_access: true },
    };
    const sandboxPolicy = { ...workspaceWrite, writableRoots: ['/more'], networkAccess: true };
    expect(said(undefined, config)).toEqual({
      sandbox: 'read-only',
      sandboxPolicy,
      settings: plain,
    });
    expect(said('danger-full-access', config)).toMatchObject({
      sandboxPolicy: { type: 'dangerFullAccess' },
    });
  });

  test('that a turn cannot set stays the user’s own, in an untrusted folder', () => {
    const config = { default_permissions: ':workspace' };
    const projects = { '/folder': { trust_level: 'untrusted' } };
    expect(said(undefined, config)).toEqual({
      sandbox: undefined,
      settings: { ...plain, projects, approval_policy: 'on-request' },
    });
    expect(said(undefined, { ...config, approval_policy: 'never' })).toEqual({
      sandbox: undefined,
      settings: { ...plain, projects },
    });
    expect(said('read-only', config)).toEqual({ sandbox: 'read-only', settings: plain });
  });
});

test('a server is required, may take as long as the run, and knows its depth', () => {
  const servers = [
    attachedServer({ env: { A: 'b' }, args: ['x'], enabledTools: ['one'] }),
    attachedServer({ key: 'npx', cmd: 'npx', args: ['-y', 'some-server'], cwd: '/else' }),
    attachedServer({ key: 'web', cmd: undefined, url: 'https://x/mcp', headers: { H: 'v' } }),
    attachedServer({ key: 'bare', cmd: undefined, url: 'https://y/mcp' }),
  ];
  const given = {
    enabled: true,
    required: true,
    default_tools_approval_mode: 'approve',
    tool_timeout_sec: 91,
  };
  const environment = { SWITCHBOARD_DEPTH: '1' };
  expect(serversOf({ servers, environment, timeoutMs: 90_001 })).toEqual({
    memory: {
      command: 'memory-server',
      args: ['x'],
      env: { A: 'b', SWITCHBOARD_DEPTH: '1' },
      cwd: '/folder',
      enabled_tools: ['one'],
      ...given,
    },
    npx: {
      command: 'npx',
      args: ['-y', 'some-server'],
      env: { SWITCHBOARD_DEPTH: '1' },
      cwd: '/else',
      startup_timeout_sec: 60,
      ...given,
    },
    web: { url: 'https://x/mcp', http_headers: { H: 'v' }, ...given },
    bare: { url: 'https://y/mcp', ...given },
  });
});

test('an agent’s own limits apply', () => {
  const limits = { startupTimeoutSec: 2.5, toolTimeoutSec: 7 };
  const servers = [
    attachedServer({ key: 'npx', cmd: 'npx', args: ['-y', 'some-server'], ...limits }),
    attachedServer({ key: 'web', cmd: undefined, url: 'https://x/mcp', ...limits }),
  ];
  const told = { startup_timeout_sec: 2.5, tool_timeout_sec: 7 };
  expect(serversOf({ servers })).toMatchObject({ npx: told, web: told });
});

test('inherited variables are overridden by the server’s, and those by the run’s', () => {
  const server = attachedServer({
    inherited: { A: 'ours', B: 'ours', SWITCHBOARD_DEPTH: '0' },
    env: { B: 'its own', SWITCHBOARD_DEPTH: '0' },
  });
  expect(serversOf({ servers: [server], environment: { SWITCHBOARD_DEPTH: '1' } })).toMatchObject({
    memory: { env: { A: 'ours', B: 'its own', SWITCHBOARD_DEPTH: '1' } },
  });
});

test('the engine’s own servers are switched off, and name collisions are resolved', () => {
  const config = codexConfig({
    mcp_servers: { other: { command: 'o' }, same: { command: 's' }, memory: { url: 'https://m' } },
  });
  const servers = [
    attachedServer(),
    attachedServer({ key: 'same', cmd: 'mine' }),
    attachedServer({ key: 'memory_2', cmd: 'taken' }),
  ];
  expect(serversOf({ servers, codexConfig: config })).toMatchObject({
    other: { enabled: false },
    memory: { enabled: false },
    same: { command: 'mine', enabled: true },
    memory_2: { command: 'taken' },
    memory_3: { command: 'memory-server' },
  });
});

test('a server may have any name', () => {
  const config = codexConfig(JSON.parse('{"mcp_servers":{"constructor":{"url":"https://c"}}}'));
  const servers = ['__proto__', 'constructor', 'toString'].map((key) => attachedServer({ key }));
  const tables = serversOf({ servers, codexConfig: config }) as Record<string, unknown>;
  const given = Object.entries(tables).filter(([, table]) =>
    JSON.stringify(table).includes('true'),
  );
  expect(given.map(([key]) => key)).toEqual(['__proto__', 'constructor_2', 'toString']);
  expect(JSON.stringify(tables)).toContain('"__proto__":{"command":"memory-server"');
});
