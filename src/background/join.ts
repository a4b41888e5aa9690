// Joins the user's background process: connect, prove to each other that both are this user's, say hello, hand over
// the variables it asks for, and wait for its consent.
import { connect as connectTo, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { isSuspended } from '../base/process-table.ts';
import { FRAME, FrameReader, frameOf } from './frames.ts';
import { type Hello, parsePayload, type Refusal, valuesOf, type WantedNames } from './hello.ts';
import { isSameProof } from './hmac.ts';
import { type Meeting, NONCE_BYTES, proofOf, randomHex, readNote, readSecret } from './meeting.ts';

type OnFrame = (type: number, payload: Buffer) => void;

/** An open link to a background process. */
export interface Joined {
  readonly socket: Duplex;
  /** Passes on all frames after the consent, including those that have already arrived. */
  readonly listen: (onFrame: OnFrame) => void;
}

/** A sentence for the user, unless nothing is wrong. */
export type JoinFailure = Refusal;

const READ_BYTES = 65_536;
/** A background process that works is never silent for so long. */
const SILENCE_MS = 5_000;
/** After this, look whether the process is suspended. */
const SUSPECT_MS = 500;
/** In all. Reading the configuration may run a script. */
const LONGEST_MS = 60_000;

const UNEXPECTED = 'it sent something unexpected.';

/** The socket, or the system's error code. */
export function connectAt(address: string): Promise<Socket | string> {
  return new Promise((resolve) => {
    // As Node would, but with one buffer for all reads.
    const buffer = Buffer.allocUnsafe(READ_BYTES);
    const callback = (length: number): boolean => {
      socket.emit('data', Buffer.from(buffer.subarray(0, length)));
      return true;
    };
    const socket = connectTo({ path: address, onread: { buffer, callback } });
    const fail = (error: NodeJS.ErrnoException): void => resolve(error.code ?? 'EIO');
    socket.once('error', fail);
    socket.once('connect', () => {
      socket.off('error', fail);
      socket.on('error', () => {}); // `close` follows
      resolve(socket);
    });
  });
}

/**
 * Resolves with a string if the connection ended: then the process is just stopping. No `hello`: we started the
 * process, and it has it already.
 */
export async function joinOver(
  socket: Socket,
  meeting: Meeting,
  hello: Hello | undefined,
  environment: NodeJS.ProcessEnv,
  onLog: (text: Buffer) => void,
): Promise<Joined | JoinFailure | 'closed'> {
  const result = await talk(socket, meeting, hello, environment, onLog);
  if (result === 'closed' || !('socket' in result)) socket.destroy();
  return result;
}

function talk(
  socket: Socket,
  meeting: Meeting,
  hello: Hello | undefined,
  environment: NodeJS.ProcessEnv,
  onLog: (text: Buffer) => void,
): Promise<Joined | JoinFailure | 'closed'> {
  const secret = hello && readSecret(meeting);
  if (hello && !secret) return Promise.resolve(failure(`${meeting.secretFile} is missing.`));
  const nonce = hello && randomHex(NONCE_BYTES);
  return new Promise((resolve) => {
    const early: [type: number, payload: Buffer][] = [];
    let receive: OnFrame = (type, payload) => void early.push([type, payload]);
    let isOpen = false;
    const listen = (onFrame: OnFrame): void => {
      receive = onFrame;
      for (const [type, payload] of early.splice(0)) onFrame(type, payload);
    };
    const settle = (result: Joined | JoinFailure | 'closed'): void => {
      for (const timer of [silence, limit, suspicion]) clearTimeout(timer);
      socket.off('close', closed);
      resolve(result);
    };
    const late = (): void => settle(failure(`it didn't respond (${describeProcess(meeting)}).`));
    const silence = setTimeout(late, SILENCE_MS);
    const limit = setTimeout(late, LONGEST_MS);
    const suspicion = setTimeout(() => {
      const { pid } = readNote(meeting) ?? {};
      if (pid !== undefined && isSuspended(pid)) {
        settle(failure(`it is suspended (process ${pid}). Continue it with: kill -CONT ${pid}`));
      }
    }, SUSPECT_MS);
    const onFrame: OnFrame = (type, payload) => {
      if (isOpen) return receive(type, payload);
      silence.refresh();
      const content = parsePayload(payload) ?? {};
      switch (type) {
        case FRAME.proof: {
          if (!secret || nonce === undefined) return settle(failure(UNEXPECTED));
          const challenge = { entry: nonce, background: String(content['nonce']) };
          const expected = proofOf('background', secret, challenge);
          if (!isSameProof(content['proof'], expected)) {
            return settle(failure(`${meeting.address} doesn't know this user's key.`));
          }
          clearTimeout(suspicion);
          const proof = proofOf('entry', secret, challenge);
          socket.write(frameOf(FRAME.hello, { ...hello, proof }));
          return undefined;
        }
        case FRAME.names: {
          const values = valuesOf(content['names'] as WantedNames, environment);
          socket.write(frameOf(FRAME.values, { values }));
          return undefined;
        }
        case FRAME.log:
          return onLog(payload);
        case FRAME.accepted:
          isOpen = true;
          return settle({ socket, listen });
        case FRAME.refused:
          return settle({
            reason: String(content['reason']),
            isExpected: content['isExpected'] === true,
            isOver: content['isOver'] === true,
            failed: content['failed'],
          });
        default:
          return settle(failure(UNEXPECTED));
      }
    };
    const reader = new FrameReader(onFrame);
    const read = (chunk: Buffer): void => {
      try {
        reader.push(chunk);
      } catch {
        settle(failure(UNEXPECTED));
        socket.destroy();
      }
    };
    const closed = (): void => settle('closed');
    socket.on('data', read);
    socket.once('close', closed);
    if (nonce === undefined) socket.resume();
    else socket.write(frameOf(FRAME.greeting, { nonce }));
  });
}

function failure(reason: string): JoinFailure {
  return { reason, isExpected: false, isOver: false };
}

function describeProcess(meeting: Meeting): string {
  const note = readNote(meeting);
  return note ? `process ${note.pid}` : meeting.address;
}
