// Codex's own effective configuration: the user's, the administrator's, and that of a trusted project.
import { isObject } from '../../base/object.ts';
import type { SandboxMode } from '../agent.ts';

export interface CodexConfig {
  /** The servers Codex would attach by itself, by key. */
  readonly servers: Readonly<Record<string, unknown>>;
  readonly hasApprovalPolicy: boolean;
  readonly sandboxMode: SandboxMode | undefined;
  /** Options of the workspace-write sandbox. */
  readonly workspaceWrite: Readonly<Record<string, unknown>>;
  /** Whether permissions are configured the newer way, which can't be set per turn. */
  readonly hasPermissions: boolean;
}

const SANDBOX_MODES = new Set<unknown>(['read-only', 'workspace-write', 'danger-full-access']);

/** Parses the response to `config/read`. */
export function readCodexConfig(answer: unknown): CodexConfig {
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
