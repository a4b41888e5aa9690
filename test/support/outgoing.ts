// Descriptions of messages for a transport, for tests that send their own.
import {
  type Id,
  type OutgoingAnswer,
  type OutgoingNotification,
  type OutgoingRequest,
  RpcError,
} from '../../src/rpc/message.ts';
import { Verbatim } from '../../src/rpc/verbatim.ts';

export function asRequest(id: number, method: string, mirrored?: object): OutgoingRequest {
  const params = mirrored && Verbatim.of(mirrored);
  return { kind: 'request', id, method, about: undefined, mirrored: params };
}

export function asNotification(
  method: string,
  { about, cancels }: { about?: Id | undefined; cancels?: number | undefined } = {},
): OutgoingNotification {
  return { kind: 'notification', method, about, cancels };
}

export function asAnswer(
  about: Id,
  { result, error }: { result?: unknown; error?: { code: number; message: string } },
): OutgoingAnswer {
  return {
    kind: 'answer',
    about,
    result: error ? undefined : Verbatim.of(result),
    error: error && new RpcError(error.code, error.message),
  };
}
