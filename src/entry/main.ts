// The program's first code on a current Node: joins the user's background process, or has the rest loaded to serve
// alone. It stays small, because every session of every host has one.
import { fstatSync } from 'node:fs';
import type { Duplex } from 'node:stream';
import { type Hello, parseServeArguments } from '../background/hello.ts';
import { hmac, isSameProof } from '../background/hmac.ts';
import {
  findMeetingPlace,
  helloOf,
  type Installation,
  type Joining,
  joinOrStart,
  type MeetingPlace,
  NextBackground,
} from '../background/join-or-start.ts';
import { writeAtomically } from '../base/atomic-file.ts';
import type { UnsavedStart } from '../load-start.ts';
import { Forwarder, type Lost } from './forward.ts';
import { inProcess } from './in-process.ts';

/** What the entry gives to the rest of the program. */
interface Given {
  /** It serves the session at the link's other end. */
  readonly link?: { readonly stream: Duplex; readonly hello: Hello };
  /** It may join the background process itself. */
  readonly installation?: Installation;
}

/** Loads the rest of the program. */
export type LoadRest = (given?: Given) => void;

interface Entry extends Installation {
  readonly loadRest: LoadRest;
}

/** Not before the host has its first answers. */
const COMPILED_AFTER_MS = 1_000;

export function enter(entry: Entry): void {
  const { env, argv } = process;
  const isServe = parseServeArguments(argv.slice(2)) !== undefined;
  const isStdio = !env['TRANSPORT'] || env['TRANSPORT'].toLowerCase() === 'stdio';
  if (!isServe || !isStdio) {
    const { program, build } = entry;
    return entry.loadRest({ installation: { program, build } });
  }
  if (!isPipe(0) || !isPipe(1)) return entry.loadRest();
  void open(entry).then((forwarder) => {
    if (!forwarder) return;
    setTimeout(keepCompiled, COMPILED_AFTER_MS).unref();
    process.on('SIGHUP', () => forwarder.reload());
    let isEnding = false;
    const end = (): void => {
      if (isEnding) process.exit(0);
      isEnding = true;
      forwarder.stop();
    };
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
  });
}

/** Set by the program's first file, unless the compiled code is saved already. */
declare const __UNSAVED_START__: UnsavedStart | undefined;

/** For the next start. */
function keepCompiled(): void {
  if (!__UNSAVED_START__) return;
  // If we started the background process, this is the first time it runs. Most sessions need it.
  isSameProof('', hmac(Buffer.alloc(1), ''));
  try {
    writeAtomically(__UNSAVED_START__.file, __UNSAVED_START__.make(), { mode: 0o644 });
  } catch {
    // Programs are often installed in read-only folders. It costs only some milliseconds.
  }
}

/** Undefined if the rest of the program serves. */
async function open(entry: Entry): Promise<Forwarder | undefined> {
  const { env, argv, pid } = process;
  const { program, build } = entry;
  const joining: Joining = { program, build, environment: env, pid, onLog: say };
  const args = argv.slice(2);
  const { configFile } = parseServeArguments(args) ?? {};
  const own = (lost: Lost) => ({ args, configFile, ...lost });
  const place = findMeetingPlace(env, () => process.cwd());
  const joined = 'reason' in place ? place : await joinOrStart(joining, place, own(NOTHING_LOST));
  if ('reason' in joined) {
    if (!joined.isExpected) say(`switchboard: serving alone: ${joined.reason}\n`);
    entry.loadRest();
    return undefined;
  }
  const found = place as MeetingPlace;
  const background = new NextBackground();
  const forwarder = new Forwarder({
    environment: env,
    onLog: say,
    findNext: async (lost) => {
      const next = await background.join(joining, found, own(lost));
      if (!('reason' in next)) return next;
      say(`switchboard: serving alone from now on: ${next.reason}\n`);
      return inProcess(entry.loadRest, helloOf(joining, found.folder, own(lost)));
    },
    exit: (status) => process.exit(status),
  });
  forwarder.attach(joined);
  return forwarder;
}

const NOTHING_LOST: Lost = { snapshot: undefined, generation: 0 };

/** Files and terminals can't be forwarded as they come. */
function isPipe(descriptor: number): boolean {
  try {
    const stats = fstatSync(descriptor);
    return stats.isFIFO() || stats.isSocket();
  } catch {
    return false; // closed
  }
}

/** If the host doesn't read stderr, what is beyond this is dropped. */
const MOST_UNREAD_BYTES = 1 << 20;
let isSpeaking = false;

function say(text: string | Buffer): void {
  const { stderr } = process;
  // A host that closes stderr must not stop us.
  if (!isSpeaking) stderr.on('error', () => {});
  isSpeaking = true;
  if (stderr.writableLength < MOST_UNREAD_BYTES) stderr.write(text);
}
