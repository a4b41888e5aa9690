// What an agent says about its run, in the engine's own words. Only what the agent says is set; the
// exceptions are here, each with its reason.
import type { AgentSettings } from '../../config/config.ts';
import { isPackageRunner } from '../../config/server/runners.ts';
import type { Agent, RunFields } from '../agent.ts';
import type { AttachedServer } from '../engine.ts';
import type { EngineConfig, SandboxMode } from './engine-config.ts';

export interface ThreadWish {
  readonly agent: Agent;
  readonly cwd: string;
  readonly servers: readonly AttachedServer[];
  /** Set for servers: the engine hands them little of its own environment. */
  readonly environment: Readonly<Record<string, string>>;
  readonly engineConfig: EngineConfig;
  readonly builtinsDefault: AgentSettings['builtinsDefault'];
  /** How long the whole run may take. */
  readonly timeoutMs: number;
}

export interface ProcessWish {
  readonly run: RunFields;
  readonly catalogFile: string | undefined;
  /** Whether a sign-in is made for this process alone and kept nowhere. */
  readonly isKeyOurs: boolean;
}

/** What holds for the whole process can only be said when it is started. Nothing here is secret. */
export function processArguments({ run, catalogFile, isKeyOurs }: ProcessWish): string[] {
  const settings: Record<string, string | undefined> = {
    model_provider: run.modelProvider,
    chatgpt_base_url: run.chatgptBaseUrl,
    model_catalog_json: catalogFile,
    cli_auth_credentials_store: isKeyOurs ? 'ephemeral' : undefined,
  };
  const said = Object.entries(settings).flatMap(([key, value]) =>
    value === undefined ? [] : ['-c', `${key}=${JSON.stringify(value)}`],
  );
  return ['app-server', ...said];
}

/** The parameters of `thread/start`. */
export function threadParameters(wish: ThreadWish): Record<string, unknown> {
  const { agent, cwd } = wish;
  const { run, instructions } = agent;
  return onlySaid({
    cwd,
    // No session file of an agent's run is left among the user's own.
    ephemeral: true,
    // What a profile once was: the name under which the agent's settings go.
    serviceName: agent.safeName,
    baseInstructions: instructions,
    model: run.model,
    modelProvider: run.modelProvider,
    approvalPolicy: run.approvalPolicy === 'on-failure' ? 'on-request' : run.approvalPolicy,
    sandbox: saidSandbox(wish) === undefined ? undefined : 'read-only',
    // What the sandbox refuses is told to the model alone.
    experimentalRawEvents: true,
    config: threadConfig(wish),
  });
}

/**
 * What of `turn/start` is about the sandbox. A thread that may write has the engine take its folder
 * for one that the user trusts, note that for good, and start the servers that a file in it names. A
 * turn that may write does not: so the thread may only read, and the turn has what was said.
 */
export function turnSandbox(wish: ThreadWish): Record<string, unknown> {
  switch (saidSandbox(wish)) {
    case 'danger-full-access':
      return { sandboxPolicy: { type: 'dangerFullAccess' } };
    case 'workspace-write': {
      const more = wish.engineConfig.workspaceWrite;
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

/** The sandbox of a run; undefined if it is made of permissions and has no name. */
export function sandboxOf(wish: ThreadWish): SandboxMode | undefined {
  const unsaid = wish.engineConfig.hasPermissions ? undefined : 'read-only';
  return saidSandbox(wish) ?? unsaid;
}

function saidSandbox({ agent, engineConfig }: ThreadWish): SandboxMode | undefined {
  return agent.run.sandboxMode ?? engineConfig.sandboxMode;
}

function threadConfig(wish: ThreadWish): Record<string, unknown> {
  const { agent, builtinsDefault } = wish;
  const { run } = agent;
  const unnamed = builtinsDefault === 'off' ? false : undefined;
  const plan = run.includePlanTool ?? unnamed;
  const webSearch = run.toolsWebSearchRequest ?? unnamed;
  return onlySaid({
    model_reasoning_effort: run.modelReasoningEffort,
    model_reasoning_summary: run.modelReasoningSummary,
    model_verbosity: run.modelVerbosity,
    web_search: webSearch === undefined ? undefined : webSearch ? 'live' : 'disabled',
    // An agent that is called as a tool has nobody to talk to, and starts no others on its own.
    agents: { enabled: false },
    tools: onlySaid({
      update_plan: plan === undefined ? undefined : { enabled: plan },
      experimental_request_user_input: { enabled: false },
    }),
    features: onlySaid({
      goals: false,
      view_image: run.includeViewImageTool ?? unnamed,
      // Both attach servers that the agent was not given.
      apps: false,
      plugins: false,
      // It writes our environment into a file, keys and all.
      shell_snapshot: false,
    }),
    ...distrust(wish),
    mcp_servers: serverTables(wish),
  });
}

/** Where the sandbox cannot be said for a turn, there is only this way to keep the folder untrusted. */
function distrust(wish: ThreadWish): Record<string, unknown> {
  const { agent, cwd, engineConfig } = wish;
  if (!engineConfig.hasPermissions || saidSandbox(wish) !== undefined) return {};
  const isSaid = agent.run.approvalPolicy !== undefined || engineConfig.hasApprovalPolicy;
  return {
    projects: { [cwd]: { trust_level: 'untrusted' } },
    // Else the engine would ask before every command: this is what it does in all other folders.
    ...(!isSaid && { approval_policy: 'on-request' }),
  };
}

/** What apply_patch is to be: that is said by the list of models, not by the thread. */
export function wantsPatch(
  { includeApplyPatchTool }: RunFields,
  builtinsDefault: AgentSettings['builtinsDefault'],
): boolean | undefined {
  return includeApplyPatchTool ?? (builtinsDefault === 'off' ? false : undefined);
}

/** What is attached is laid over what the engine has configured itself, and that is switched off. */
function serverTables(wish: ThreadWish): Record<string, unknown> | undefined {
  const off = Object.keys(wish.engineConfig.servers).map((key) => [key, { enabled: false }]);
  const given = [...namedServers(wish)].map(([name, server]) => [name, serverTable(server, wish)]);
  // Of two entries the later counts. Not set one by one: a server may be called `__proto__`.
  const tables = [...off, ...given];
  return tables.length === 0 ? undefined : Object.fromEntries(tables);
}

/** The servers of a run by the names that the engine is to know them by. */
export function namedServers({ servers, engineConfig }: ThreadWish): Map<string, AttachedServer> {
  return new Map(servers.map((one) => [freeKey(one, engineConfig.servers, servers), one]));
}

function serverTable(server: AttachedServer, wish: ThreadWish): Record<string, unknown> {
  const { cmd, args, env, url, headers, enabledTools, startupTimeoutSec } = server;
  const how =
    cmd === undefined
      ? { url, http_headers: Object.keys(headers).length === 0 ? undefined : headers }
      : {
          command: cmd,
          args,
          env: { ...server.handedOn, ...env, ...wish.environment },
          cwd: server.cwd ?? wish.cwd,
        };
  // It may have to be downloaded first, and the run waits for it.
  const isDownload = cmd !== undefined && isPackageRunner({ cmd, args, env });
  return onlySaid({
    ...how,
    enabled: true,
    // Else the model may be asked before the server's tools are there. One that fails is left out then.
    required: true,
    startup_timeout_sec: startupTimeoutSec ?? (isDownload ? 60 : undefined),
    // The engine would give up after minutes; a tool that is an agent may need as long as the run has.
    tool_timeout_sec: server.toolTimeoutSec ?? Math.ceil(wish.timeoutMs / 1_000),
    enabled_tools: enabledTools,
    // The agent was given it to use it.
    default_tools_approval_mode: 'approve',
  });
}

/** A server of the engine's that is reached in another way cannot be laid over: both would hold. */
function freeKey(
  { key, cmd }: AttachedServer,
  engineServers: Readonly<Record<string, unknown>>,
  servers: readonly AttachedServer[],
): string {
  const clashes = (name: string): boolean => {
    const theirs = Object.hasOwn(engineServers, name) ? engineServers[name] : undefined;
    if (typeof theirs !== 'object' || theirs === null) return false;
    return cmd === undefined ? 'command' in theirs : 'url' in theirs;
  };
  const isTaken = (name: string): boolean =>
    clashes(name) || (name !== key && servers.some((server) => server.key === name));
  let free = key;
  for (let number = 2; isTaken(free); number++) free = `${key}_${number}`;
  return free;
}

function onlySaid(members: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
