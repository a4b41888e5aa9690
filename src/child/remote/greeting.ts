// The answer to a handshake that is made again, because the server has lost the session of the first.
// It concerns nobody but the wire.
import { SwitchboardError } from '../../base/errors.ts';
import { isObject } from '../../base/object.ts';
import { parseWithin } from '../../rpc/json-text.ts';
import { readText } from './body.ts';
import { readEvents, type ServerEvent } from './events.ts';
import { quote } from './failures.ts';
import type { HttpReply } from './http.ts';
import { answers, isEventStream } from './reply.ts';
import type { RemoteServer } from './server.ts';

export async function readGreeting(
  server: RemoteServer,
  reply: HttpReply,
  id: number,
): Promise<unknown> {
  let answer: unknown;
  if (isEventStream(reply)) {
    const onEvent = ({ data }: ServerEvent): void => {
      const value = parseWithin(data, server.messageShape);
      if (!answers(value, id)) return;
      answer = value;
      reply.body.destroy();
    };
    await readEvents(reply.body, server.messageBytes, { onEvent });
  } else {
    const text = await readText(reply.body, server.messageBytes);
    answer = parseWithin(text, server.messageShape);
  }
  if (isObject(answer) && isObject(answer['result'])) return answer;
  throw new SwitchboardError(
    'CHILD_PROTOCOL',
    `Server "${server.name}" has lost its session and refused a new one: ${quote(server, JSON.stringify(answer) ?? 'no answer')}`,
    { hint: `Run: switchboard doctor ${server.name}` },
  );
}
