// Greeting a child in the era it speaks: the known one, or the one that is found out. A child that does
// not answer the question may be one that never will, or one that is still starting. So it is greeted
// the older way after a moment, and the question stays open: where it has refused that greeting,
// the answer to the question tells why.
import { Cancellation } from '../base/cancellation.ts';
import { soon } from '../base/time.ts';
import type { ChildConfig } from '../config/config.ts';
import type { Era } from '../mcp/eras.ts';
import { RpcError } from '../rpc/message.ts';
import { RpcTimeout } from '../rpc/peer.ts';
import { type Greeting, shakeHands } from './handshake.ts';
import { type Link, LinkEnded } from './link.ts';
import { type Discovery, discover } from './probe.ts';

export interface GreetOptions {
  /** What the child is known to speak; undefined to find it out. */
  readonly era: Era | undefined;
  /** What it should speak if it speaks both. */
  readonly preferredEra: Era;
  /** Calls the start off. */
  readonly cancellation: Cancellation;
}

/** A program that does not know the question answers at once, or never. */
const PROBE_MS = 1_000;
/** Over the network the way takes time; and one that speaks both eras has settled on the older with a handshake. */
const PATIENT_PROBE_MS = 5_000;

/** The child ended when it was asked what it is: it may live if it is not. */
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
  const asking = new Cancellation();
  const stopAsking = (): void => asking.cancel(cancellation.reason ?? new Error('It was greeted.'));
  cancellation.listen(stopAsking);
  const question = discoverAlive(link, limitMs, asking);
  question.catch(() => {}); // looked at where it matters
  try {
    const found = await soon(question, patienceMs);
    if (found && (preferredEra === 'modern' || !found.speaksBoth)) return found.greeting;
    return await greetMeanwhile(question, handshake());
  } finally {
    cancellation.unlisten(stopAsking);
    stopAsking();
  }
}

/** The greeting that the child accepts, whose answer to the question may still come. */
async function greetMeanwhile(
  question: Promise<Discovery | undefined>,
  handshake: Promise<Greeting>,
): Promise<Greeting> {
  try {
    return await handshake;
  } catch (failure) {
    if (failure instanceof LinkEnded) await question; // of which it may have died
    const isRefused = failure instanceof RpcError || failure instanceof RpcTimeout;
    const found = isRefused ? await soon(question, PROBE_MS) : undefined;
    if (found) return found.greeting;
    throw failure;
  }
}

/** A child that dies of the question is told apart from one that dies of something else. */
async function discoverAlive(link: Link, limitMs: number, cancellation: Cancellation) {
  try {
    return await discover(link.peer, limitMs, cancellation);
  } catch (error) {
    throw error instanceof LinkEnded ? new DiedOfProbe(error.end) : error;
  }
}
