// Greets a server in its era, or finds out the era first. A server that doesn't answer the probe may never answer
// it, or may still be starting. So after a moment it also gets a handshake, and the probe stays open: if the server
// refuses the handshake, the answer to the probe explains why.
import { Cancellation } from '../base/cancellation.ts';
import { settleWithin } from '../base/time.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Era } from '../mcp/eras.ts';
import { RpcError } from '../rpc/message.ts';
import { RpcTimeout } from '../rpc/requests.ts';
import { type Greeting, shakeHands } from './handshake.ts';
import { type Link, LinkEnded } from './link.ts';
import { type Discovery, probe } from './probe.ts';

export interface GreetOptions {
  /** The server's era, if known. */
  readonly era: Era | undefined;
  /** The era to choose if the server speaks both. */
  readonly preferredEra: Era;
  /** Cancels the start. */
  readonly cancellation: Cancellation;
}

/** A program that doesn't recognize the probe responds at once or never. */
const PROBE_MS = 1_000;
/** The network takes time, and a handshake would settle a server that speaks both eras on the older one. */
const PATIENT_PROBE_MS = 5_000;

/** The server exited during the probe, and may start without one. */
export class DiedOfProbe extends LinkEnded {}

export async function greet(
  { name, protocolVersion, remote, timeouts }: ChildConfig,
  link: Link,
  { era, preferredEra, cancellation }: GreetOptions,
): Promise<Greeting> {
  const timeoutMs = timeouts.spawnMs;
  const handshake = () =>
    shakeHands(link.peer, { childName: name, protocolVersion, timeoutMs, cancellation });
  if (era === 'handshake' || protocolVersion !== undefined) return handshake();
  const patienceMs = remote || preferredEra === 'modern' ? PATIENT_PROBE_MS : PROBE_MS;
  const limitMs = remote ? patienceMs : patienceMs + timeoutMs;
  const probeCancellation = new Cancellation();
  const stopProbing = (): void =>
    probeCancellation.cancel(cancellation.reason ?? new Error('The server was greeted.'));
  cancellation.listen(stopProbing);
  const probing = probeAlive(link, limitMs, probeCancellation);
  probing.catch(() => {}); // handled below, if it matters
  try {
    const found = await settleWithin(probing, patienceMs);
    if (found && (preferredEra === 'modern' || !found.speaksBoth)) return found.greeting;
    return await greetMeanwhile(probing, handshake());
  } finally {
    cancellation.unlisten(stopProbing);
    stopProbing();
  }
}

/** The greeting the server accepts. Its answer to the probe may still arrive. */
async function greetMeanwhile(
  probing: Promise<Discovery | undefined>,
  handshake: Promise<Greeting>,
): Promise<Greeting> {
  try {
    return await handshake;
  } catch (failure) {
    if (failure instanceof LinkEnded) await probing; // the probe may have killed it
    const isRefused = failure instanceof RpcError || failure instanceof RpcTimeout;
    const found = isRefused ? await settleWithin(probing, PROBE_MS) : undefined;
    if (found) return found.greeting;
    throw failure;
  }
}

/** Distinguishes a server that exits because of the probe from one that exits anyway. */
async function probeAlive(link: Link, limitMs: number, cancellation: Cancellation) {
  try {
    return await probe(link.peer, limitMs, cancellation);
  } catch (error) {
    throw error instanceof LinkEnded ? new DiedOfProbe(error.end) : error;
  }
}
