// What the engine is configured to do without us, as it says itself: by its user, by the machine's
// administrator, and by a project that its user trusts.
import { isObject } from '../../base/object.ts';
import type { RunFields } from '../agent.ts';

export type SandboxMode = NonNullable<RunFields['sandboxMode']>;

export interface EngineConfig {
  /** The servers that it would attach by itself, by key. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly hasApprovalPolicy: boolean;
  readonly sandboxMode: SandboxMode | undefined;
  /** What more may be written to, where it may be written at all. */
  readonly workspaceWrite: Readonly<Record<string, unknown>>;
  /** Whether permissions are configured in the newer way, which cannot be said for a turn. */
  readonly hasPermissions: boolean;
}

const SANDBOX_MODES = new Set<unknown>(['read-only', 'workspace-write', 'danger-full-access']);

/** Reads the answer to `config/read`. */
export function readEngineConfig(answer: unknown): EngineConfig {
  const config = isObject(answer) && isObject(answer['config']) ? answer['config'] : {};
  const { mcp_servers: servers, sandbox_mode: mode, sandbox_workspace_write: write } = config;
  return {
    servers: isObject(servers) ? servers : {},
    hasApprovalPolicy: isSet(config['approval_policy']),
    sandboxMode: SANDBOX_MODES.has(mode) ? (mode as SandboxMode) : undefined,
    workspaceWrite: isObject(write) ? write : {},
    hasPermissions: isSet(config['default_permissions']),
  };
}

function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}
