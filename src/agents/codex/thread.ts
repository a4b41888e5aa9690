// Maps an agent's run fields to Codex's settings. Sets only what the agent sets, with a few exceptions, each
// explained here.
import type { AgentSettings } from '../../config/config.ts';
import { isPackageRunner } from '../../config/server/runners.ts';
import type { Agent, RunFields, SandboxMode } from '../agent.ts';
import type { AttachedServer } from '../engine.ts';
import type { CodexConfig } from './codex-config.ts';

export interface ThreadOptions {
  readonly agent: Agent;
  readonly cwd: string;
  readonly servers: readonly AttachedServer[];
  /** Set for servers, which get little of Codex's own environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly codexConfig: CodexConfig;
  readonly builtinsDefault: AgentSettings['builtinsDefault'];
  /** Of the whole run. */
  readonly timeoutMs: number;
}

export interface ProcessOptions {
  readonly run: RunFields;
  readonly catalogFile: string | undefined;
  /** Whether we sign in for this process only, and store nothing. */
  readonly isKeyOurs: boolean;
}

/** Settings for the whole process, which only its arguments can set. None is secret. */
export function processArguments({ run, catalogFile, isKeyOurs }: ProcessOptions): string[] {
  const settings: Record<string, string | undefined> = {
    model_provider: run.provider,
    chatgpt_base_url: run.baseUrl,
    model_catalog_json: catalogFile,
    cli_auth_credentials_store: isKeyOurs ? 'ephemeral' : undefined,
  };
  const options = Object.entries(settings).flatMap(([key, value]) =>
    value === undefined ? [] : ['-c', `${key}=${JSON.stringify(value)}`],
  );
  return ['app-server', ...options];
}

/** The parameters of `thread/start`. */
export function threadParameters(options: ThreadOptions): Record<string, unknown> {
  const { agent, cwd } = options;
  const { run, instructions } = agent;
  return withoutUndefined({
    cwd,
    // Leaves no session file among the user's own.
    ephemeral: true,
    // Replaces profiles: the name the agent's settings go under.
    serviceName: agent.safeName,
    baseInstructions: instructions,
    model: run.model,
    modelProvider: run.provider,
    approvalPolicy: run.approvals === 'on-failure' ? 'on-request' : run.approvals,
    sandbox: configuredSandbox(options) === undefined ? undefined : 'read-only',
    // Codex reports what the sandbox blocks only to the model.
    experimentalRawEvents: true,
    config: threadConfig(options),
  });
}

/**
 * The sandbox part of `turn/start`. If a thread can write, Codex permanently marks the folder
 * as trusted and starts the servers its files declare. It doesn't do so if only a turn can write. So the thread is
 * read-only, and the turn gets the real sandbox.
 */
export function turnSandbox(options: ThreadOptions): Record<string, unknown> {
  switch (configuredSandbox(options)) {
    case 'danger-full-access':
      return { sandboxPolicy: { type: 'dangerFullAccess' } };
    case 'workspace-write': {
      const more = options.codexConfig.workspaceWrite;
      const sandboxPolicy = {
        type: 'workspaceWrite',
        writableRoots: more['writable_roots'] ?? [],
        networkAccess: more['network_access'] ?? false,
        excludeTmpdirEnvVar: more['exclude_tmpdir_env_var'] ?? false,
        excludeSlashTmp: more['exclude_slash_tmp'] ?? false,
      };
      return { sandboxPolicy };
    }
    case 'read-only':
    case undefined:
      return {};
  }
}

/** The run's sandbox; undefined if permissions define it. */
export function sandboxOf(options: ThreadOptions): SandboxMode | undefined {
  const fallback = options.codexConfig.hasPermissions ? undefined : 'read-only';
  return configuredSandbox(options) ?? fallback;
}

function configuredSandbox({ agent, codexConfig }: ThreadOptions): SandboxMode | undefined {
  return agent.run.sandbox ?? codexConfig.sandboxMode;
}

function threadConfig(options: ThreadOptions): Record<string, unknown> {
  const { agent, builtinsDefault } = options;
  const { run } = agent;
  const unnamed = builtinsDefault === 'off' ? false : undefined;
  const plan = run.builtins?.plan ?? unnamed;
  const webSearch = run.builtins?.web_search ?? unnamed;
  return withoutUndefined({
    model_reasoning_effort: run.effort,
    model_reasoning_summary: run.summary,
    model_verbosity: run.verbosity,
    web_search: webSearch === undefined ? undefined : webSearch ? 'live' : 'disabled',
    // An agent called as a tool has no one to talk to, and doesn't start others on its own.
    agents: { enabled: false },
    tools: withoutUndefined({
      update_plan: plan === undefined ? undefined : { enabled: plan },
      experimental_request_user_input: { enabled: false },
    }),
    features: withoutUndefined({
      goals: false,
      view_image: run.builtins?.view_image ?? unnamed,
      // Both attach servers the agent shouldn't have.
      apps: false,
      plugins: false,
      // Writes our environment, including keys, to a file.
      shell_snapshot: false,
    }),
    ...distrust(options),
    mcp_servers: serverTables(options),
  });
}

/** If the sandbox can't be set per turn, this is the only way to keep the folder untrusted. */
function distrust(options: ThreadOptions): Record<string, unknown> {
  const { agent, cwd, codexConfig } = options;
  if (!codexConfig.hasPermissions || configuredSandbox(options) !== undefined) return {};
  const hasPolicy = agent.run.approvals !== undefined || codexConfig.hasApprovalPolicy;
  return {
    projects: { [cwd]: { trust_level: 'untrusted' } },
    // Otherwise Codex would ask before every command. This is its default in other folders.
    ...(!hasPolicy && { approval_policy: 'on-request' }),
  };
}

/** Whether the run gets apply_patch. The model catalog controls it, not the thread. */
export function wantsPatch(
  { builtins }: RunFields,
  builtinsDefault: AgentSettings['builtinsDefault'],
): boolean | undefined {
  return builtins?.apply_patch ?? (builtinsDefault === 'off' ? false : undefined);
}

/** Attaches the run's servers, and switches off those of Codex's own configuration. */
function serverTables(options: ThreadOptions): Record<string, unknown> | undefined {
  const off = Object.keys(options.codexConfig.servers).map((key) => [key, { enabled: false }]);
  const given = [...namedServers(options)].map(([name, server]) => [
    name,
    serverTable(server, options),
  ]);
  // Later entries override. Not set one by one: a server may be called `__proto__`.
  const tables = [...off, ...given];
  return tables.length === 0 ? undefined : Object.fromEntries(tables);
}

/** The run's servers by their names in Codex. */
export function namedServers({ servers, codexConfig }: ThreadOptions): Map<string, AttachedServer> {
  return new Map(servers.map((one) => [freeKey(one, codexConfig.servers, servers), one]));
}

function serverTable(server: AttachedServer, options: ThreadOptions): Record<string, unknown> {
  const { cmd, args, env, url, headers, enabledTools, startupTimeoutSec } = server;
  const how =
    cmd === undefined
      ? { url, http_headers: Object.keys(headers).length === 0 ? undefined : headers }
      : {
          command: cmd,
          args,
          env: { ...server.inherited, ...env, ...options.environment },
          cwd: server.cwd ?? options.cwd,
        };
  // It may have to be downloaded first.
  const isDownload = cmd !== undefined && isPackageRunner({ cmd, args, env });
  return withoutUndefined({
    ...how,
    enabled: true,
    // Otherwise Codex may prompt the model before the server's tools are available. Failed ones are dropped later.
    required: true,
    startup_timeout_sec: startupTimeoutSec ?? (isDownload ? 60 : undefined),
    // Codex would give up after a few minutes, but a tool that runs an agent may take as long as the whole run.
    tool_timeout_sec: server.toolTimeoutSec ?? Math.ceil(options.timeoutMs / 1_000),
    enabled_tools: enabledTools,
    default_tools_approval_mode: 'approve',
  });
}

/** A server with the same name but another transport would be merged with ours, so ours is renamed. */
function freeKey(
  { key, cmd }: AttachedServer,
  codexServers: Readonly<Record<string, unknown>>,
  servers: readonly AttachedServer[],
): string {
  const clashes = (name: string): boolean => {
    const theirs = Object.hasOwn(codexServers, name) ? codexServers[name] : undefined;
    if (typeof theirs !== 'object' || theirs === null) return false;
    return cmd === undefined ? 'command' in theirs : 'url' in theirs;
  };
  const isTaken = (name: string): boolean =>
    clashes(name) || (name !== key && servers.some((server) => server.key === name));
  let free = key;
  for (let number = 2; isTaken(free); number++) free = `${key}_${number}`;
  return free;
}

function withoutUndefined(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
