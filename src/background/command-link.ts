// What a command and the background process say to each other once the command has joined: JSON-RPC in data frames, one
// message per line. Failures travel as values, so that a server's own errors can't be mistaken for ours.
import { ERRORS, type ErrorCode, SwitchboardError } from '../base/errors.ts';
import { isObject } from '../base/object.ts';
import { RpcError } from '../rpc/message.ts';
import { Peer, type PeerOptions } from '../rpc/peer.ts';
import { Verbatim } from '../rpc/verbatim.ts';

/** A command's requests to the background process. */
export const COMMAND = {
  start: 'start',
  listTools: 'tools/list',
  knownTools: 'tools/known',
  callTool: 'tools/call',
} as const;

/** The background process's messages about a running call. */
export const CALL_EVENT = { ask: 'ask', pageVisited: 'page-visited' } as const;

const NEWLINE = 10;

export interface CommandPeer {
  readonly peer: Peer;
  /** Takes bytes from the other side. */
  readonly read: (chunk: Buffer) => void;
}

export function createCommandPeer(options: PeerOptions): CommandPeer {
  const peer = new Peer(options);
  let pieces: Buffer[] = [];
  const take = (line: Buffer): void => {
    const text = line.toString();
    peer.receive(new Verbatim(text, JSON.parse(text)));
  };
  const read = (chunk: Buffer): void => {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end !== -1; end = rest.indexOf(NEWLINE)) {
      take(Buffer.concat([...pieces, rest.subarray(0, end)]));
      pieces = [];
      rest = rest.subarray(end + 1);
    }
    if (rest.length > 0) pieces.push(rest);
  };
  return { peer, read };
}

/** A result, or the error it failed with, as one value. */
export async function packOutcome(work: Promise<Verbatim>): Promise<Verbatim> {
  try {
    const { text } = await work;
    return Verbatim.fromText(`{"result":${text}}`);
  } catch (error) {
    if (error instanceof SwitchboardError) return Verbatim.of({ failed: packError(error) });
    if (!(error instanceof RpcError)) throw error;
    const { code, message, data } = error;
    const given = data ? `,"data":${data.text}` : '';
    const head = `"code":${code},"message":${JSON.stringify(message)}`;
    return Verbatim.fromText(`{"refused":{${head}${given}}}`);
  }
}

/** Throws what the other side failed with. */
export function unpackOutcome(outcome: Verbatim): Verbatim {
  const result = outcome.member('result');
  if (result) return result;
  const { failed, refused } = isObject(outcome.value) ? outcome.value : {};
  if (isObject(failed)) throw unpackError(failed);
  const { code, message } = isObject(refused) ? refused : {};
  throw new RpcError(Number(code), String(message), outcome.member('refused', 'data'));
}

/** An error of ours as JSON. */
export function packError({ code, message, hint, data }: SwitchboardError): object {
  return { code, message, hint, data };
}

export function unpackError(failed: Readonly<Record<string, unknown>>): SwitchboardError {
  const { code, message, hint, data } = failed;
  return new SwitchboardError(codeOfOurs(code), String(message), {
    hint: typeof hint === 'string' ? hint : undefined,
    data: isObject(data) ? data : {},
  });
}

function codeOfOurs(code: unknown): ErrorCode {
  return typeof code === 'string' && Object.hasOwn(ERRORS, code)
    ? (code as ErrorCode)
    : 'TOOL_FAILED';
}
