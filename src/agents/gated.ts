// Reads the files of an agent through the judge: what came with a project's repository is used only if the user
// approved exactly this text.
import { basename } from 'node:path';
import type { Gate, GatedText } from '../config/files/gate.ts';
import type { Subject } from '../config/judge.ts';
import type { Dialect } from './agent.ts';

export function readAgentFile(
  file: string,
  dialect: Dialect,
  gate: Gate,
): Promise<GatedText | 'waiting'> {
  return readApproved('agent', agentName(file), file, gate, { more: { dialect } });
}

interface OpenedAgent {
  readonly file: string;
  readonly dialect: Dialect;
  readonly text: string;
  readonly origin: Subject['origin'];
}

/** What is approved with an agent's file. */
export function agentSubject({ file, dialect, text, origin }: OpenedAgent): Subject {
  const content = () => ({ text, dialect });
  return { kind: 'agent', name: agentName(file), file, origin, content };
}

/** The name an approval has: what the file itself says may be anything. */
export function agentName(file: string): string {
  return basename(file).replace(/(?:\.(?:agent|chatmode))?\.\w+$/, '');
}

interface ReadApprovedOptions {
  /** Also approved, besides the text. */
  readonly more?: object;
  /** Folders the file has to be in, once links are followed. */
  readonly within?: readonly string[];
}

/** The text, or that it isn't approved. */
export async function readApproved(
  kind: Subject['kind'],
  name: string,
  file: string,
  gate: Gate,
  { more = {}, within }: ReadApprovedOptions = {},
): Promise<GatedText | 'waiting'> {
  const read = await gate.read(file, within && { within });
  if ('problem' in read || read.origin === undefined) return read;
  const { text, origin } = read;
  const also = JSON.stringify(more);
  const verdict = gate.decide({
    kind,
    name,
    file,
    origin,
    content: () => ({ text, ...more }),
    basis: [read, { text: also, stamp: also }],
  });
  return verdict === 'approved' ? read : 'waiting';
}
