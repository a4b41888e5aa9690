// Where a process lives. A session must not leave its sandbox by joining a process outside, and must not get the
// limits of someone else's.
import { userNumber } from '../base/process.ts';
import { confinementOf, ownNamespaces } from '../base/process-table.ts';

export interface Place {
  readonly uid: number | undefined;
  readonly namespaces: Readonly<Record<string, string>>;
  /** What the kernel says about the process's privileges and system calls. */
  readonly confinement: string;
  /** Variables that Node only reads when a process starts, or that apply to a whole process. */
  readonly process: Readonly<Record<string, string>>;
}

/** They decide which certificates are trusted, so sessions with other values can't share a process. */
const PROCESS_WIDE = [
  'NODE_EXTRA_CA_CERTS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
];

/** Set by programs for what they run in a sandbox. */
const MARKERS = ['CODEX_SANDBOX', 'FLATPAK_ID', 'APP_SANDBOX_CONTAINER_ID'];

/** They are the first process in the sandboxes they make. */
const LAUNCHERS = new Set(['bwrap', 'firejail', 'nsjail']);

let confinement: string | undefined;

function ownConfinement(): string {
  confinement ??= confinementOf('self').limits;
  return confinement;
}

export function ownPlace(env: NodeJS.ProcessEnv): Place {
  return {
    uid: userNumber(),
    namespaces: ownNamespaces(),
    confinement: ownConfinement(),
    process: processWide(env),
  };
}

/** The variables a background process needs from the entry that starts it. */
export function processWide(env: NodeJS.ProcessEnv): Record<string, string> {
  return Object.fromEntries(PROCESS_WIDE.flatMap((name) => (env[name] ? [[name, env[name]]] : [])));
}

/** Why two processes can't share sessions; undefined if they can. */
export function placeDifference(here: Place, there: Place): string | undefined {
  if (here.uid !== there.uid) return 'it belongs to another user';
  if (!isSame(here.namespaces, there.namespaces)) return 'it runs in another container or sandbox';
  if (here.confinement !== there.confinement) return 'it runs in another sandbox';
  if (!isSame(here.process, there.process)) return 'it trusts other TLS certificates';
  return undefined;
}

function isSame(
  one: Readonly<Record<string, string>>,
  other: Readonly<Record<string, string>>,
): boolean {
  const names = Object.keys({ ...one, ...other });
  return names.every((name) => one[name] === other[name]);
}

/**
 * Whether this process is in a sandbox, as far as it can tell. It would have to serve alone there: a background
 * process would outlive the sandbox, or have its limits in sessions outside.
 */
export function isInSandbox(env: NodeJS.ProcessEnv): boolean {
  if (MARKERS.some((name) => env[name])) return true;
  // In a container, everything is confined, including the first process, which isn't the sandbox's own.
  const { name, limits } = confinementOf(1);
  return LAUNCHERS.has(name) || (limits !== '' && limits !== ownConfinement());
}
