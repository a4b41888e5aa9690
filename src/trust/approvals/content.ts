// What an approval is bound to: a SHA-256 of the content in one normal form, so that equal content has equal hashes
// whatever the order of its keys. Paths below the project are written without it, so that worktrees share approvals.
import { isAbsolute, join, resolve } from 'node:path';
import { pathInside } from '../../base/paths.ts';
import { sha256 } from '../../base/sha256.ts';
import type { ChildConfig } from '../../config/config.ts';
import type { Subject } from '../../config/judge.ts';

/** Raised when the normal form changes: older approvals then no longer match. */
export const CONTENT_FORM = 1;

/** `scope`: the repository or folder the approval is for. */
export function hashOf(
  subject: Pick<Subject, 'kind' | 'name'>,
  content: object,
  scope: string,
): string {
  const { kind, name } = subject;
  const text = JSON.stringify(ordered({ form: CONTENT_FORM, scope, kind, name, content }));
  return `sha256-${CONTENT_FORM}-${sha256(text)}`;
}

/** The content as it is hashed and shown. */
export function contentOf({ kind, content, touches }: Subject, project: string): object {
  const plain = kind === 'server' ? serverContent(content() as ChildConfig, project) : content();
  return touches ? { ...plain, touches } : plain;
}

/** A server as the project declares it: everything that decides what runs, where, and what models read. */
function serverContent(child: ChildConfig, project: string): Record<string, unknown> {
  const {
    name: _name,
    origin: _origin,
    isUsers: _isUsers,
    showBecause: _showBecause,
    startBecause: _startBecause,
    idleMs: _idleMs,
    idleBecause: _idleBecause,
    share: _share,
    shareBecause: _shareBecause,
    lingerMs: _lingerMs,
    maxMemoryMb: _maxMemoryMb,
    timeouts: _timeouts,
    introspection: _introspection,
    messageBytes: _messageBytes,
    messageShape: _messageShape,
    stderr: _stderr,
    problem,
    command,
    cwd,
    sandbox,
    passEnv,
    behind,
    ...declared
  } = child;
  return {
    ...declared,
    command: command && {
      program: programOf(command.cmd, cwd, project),
      args: command.args,
      env: command.env,
    },
    cwd: portable(cwd, project),
    // Left out if there are none, like everything that was added later: older approvals stay valid.
    passEnv: passEnv.length > 0 ? passEnv : undefined,
    sandbox: sandbox && { ...sandbox, origin: undefined },
    invalid: problem?.code === 'CONFIG_INVALID',
    behind: behind && serverContent(behind, project),
  };
}

/** A path as the program is started; a plain name is looked up on the PATH, which isn't the project's. */
function programOf(cmd: string, cwd: string, project: string): string {
  const isPath = isAbsolute(cmd) || /[\\/]/.test(cmd);
  return isPath && !cmd.includes('${') ? portable(resolve(cwd, cmd), project) : cmd;
}

function portable(path: string, project: string): string {
  if (path === project) return '${project}';
  const inside = pathInside(project, path);
  return inside === undefined ? path : join('${project}', inside);
}

/** Objects as lists of keys and values, sorted by key, without those that are undefined. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return ['list', ...value.map(ordered)];
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  const sorted = members.sort(([a], [b]) => (a < b ? -1 : 1));
  return ['object', ...sorted.map(([key, member]) => [key, ordered(member)])];
}
