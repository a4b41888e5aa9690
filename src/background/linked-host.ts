// The host at the other end of a link. The entry keeps what we haven't confirmed to have read, and what the session needs
// to be restored, so that it can go on with another background process.
import type { Writable } from 'node:stream';
import { describeBug } from '../base/errors.ts';
import { guard } from '../base/guard.ts';
import type { AdjustableLog } from '../base/log.ts';
import { type HostListener, StdioHost } from '../host/stdio.ts';
import type { Outgoing } from '../rpc/message.ts';
import type { Session } from '../session/session.ts';
import type { Switchboard } from '../switchboard.ts';
import type { Receipt } from './frames.ts';
import { FRAME } from './frames.ts';
import type { Hello } from './hello.ts';
import { Ledger } from './ledger.ts';
import type { EntryLink } from './link.ts';
import { isReplayed, Replay, SessionSnapshot } from './snapshot.ts';

/** So many unread bytes are confirmed even if there is nothing to send. */
const MOST_UNCONFIRMED_BYTES = 64 << 10;
/** More questions than one background process ever asks. */
const IDS_PER_GENERATION = 1_000_000_000;

interface LinkedHost {
  readonly host: StdioHost;
  readonly session: Session;
  /** Resolves when the servers that were switched on are again, or can't be. */
  readonly restored: Promise<void>;
  /** Reads from the host; resolves when it sends nothing more. */
  readonly listen: () => Promise<void>;
  readonly close: () => void;
}

export function openLinkedHost(
  switchboard: Switchboard,
  link: EntryLink,
  { snapshot, generation }: Hello,
  log: AdjustableLog,
): LinkedHost {
  const ledger = new Ledger();
  const state = new SessionSnapshot();
  const { input } = link;
  let readBytes = 0;
  let confirmedBytes = 0;
  let isReading = false;
  const waiting: (() => void)[] = [];
  const onBug = (error: unknown): void => log.error(describeBug(error));

  /** A receipt must not come before the bytes it's about count as read. */
  const confirm = (send: (receipt: Receipt) => void): void => {
    if (isReading) {
      waiting.push(() => confirm(send));
      return;
    }
    confirmedBytes = readBytes;
    send(ledger.receipt(readBytes));
  };
  const write = (messages: string | Uint8Array, encoding: BufferEncoding = 'utf8'): boolean => {
    confirm((receipt) => link.sendMessages(receipt, messages, encoding));
    return true;
  };
  const writePieces = (pieces: readonly Buffer[]): void =>
    confirm((receipt) => link.sendPieces(receipt, pieces));
  const host = new StdioHost({
    input,
    output: link.stream,
    write: write as Writable['write'],
    writePieces,
    messageLimits: switchboard.hostLimits,
    onFull: () => connected.setFull(true),
    onDrained: () => connected.setFull(false),
    onGivenUp: (bytes) =>
      log.error(`the host left ${bytes >> 20} MB unread: its connection was closed.`),
    onBug,
  });
  const sendSnapshot = (): void => {
    const text = state.takeChanged();
    if (text !== undefined) link.send(FRAME.snapshot, text);
  };
  const replay = new Replay(snapshot);
  const noteActive = (): void => {
    const { active } = session.report;
    replay.noteActive(active);
    state.setActive(active);
    sendSnapshot();
  };
  /** False if the host must not get the message. */
  const note = (message: Outgoing): boolean => {
    if (message.kind === 'answer') {
      if (isReplayed(message.about)) {
        replay.noteAnswered();
        return false;
      }
      if (message.about !== undefined) ledger.close(message.about);
      for (const id of message.batch ?? []) ledger.close(id);
    } else if (
      message.kind === 'notification' &&
      message.method === 'notifications/tools/list_changed'
    ) {
      noteActive(); // a server was switched on or off
    }
    return true;
  };
  const connected = switchboard.openSession({
    send: (json, framing, message) => {
      if (note(message)) host.send(json, framing);
    },
    sendPieces: (json, message) => {
      if (note(message)) host.sendPieces(json);
    },
    lastId: generation * IDS_PER_GENERATION,
  });
  const { session } = connected;
  for (const message of replay.messages) {
    state.note(message);
    session.receive(message);
  }
  if (snapshot !== undefined) noteActive();
  const listener: HostListener = {
    receive: (message) => {
      ledger.read(message);
      state.note(message);
      session.receive(message);
    },
    receiveBroken: (event) => session.receiveBroken(event),
    receiveOversize: (event) => session.receiveOversize(event),
  };
  const beginReading = (): void => {
    isReading = true;
  };
  const endReading = (): void => {
    isReading = false;
    readBytes = host.settledBytes;
    sendSnapshot();
    for (const writeNow of waiting.splice(0)) writeNow();
    if (readBytes - confirmedBytes > MOST_UNCONFIRMED_BYTES) write('');
  };
  const listen = (): Promise<void> => {
    // Around the host's own listener, which reads the messages.
    input.on('data', guard(onBug, beginReading));
    const ended = host.listen(listener);
    input.on('data', guard(onBug, endReading));
    return ended;
  };
  return { host, session, restored: replay.done, listen, close: connected.close };
}
