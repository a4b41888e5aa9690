// The local URL that the browser returns to. It accepts one response, and only with the right `state`: any
// web page can send a browser to a local port, which must neither complete nor abort the sign-in.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { guard } from '../../base/guard.ts';
import { isSameSecret } from '../../base/secrets.ts';
import { signInFailed } from './failures.ts';

export interface Callback extends AsyncDisposable {
  readonly redirectUrl: string;
  /** The response must contain it. */
  readonly state: string;
  /** The parameters that came back. */
  readonly answer: Promise<URLSearchParams>;
}

const HOST = '127.0.0.1';
const PATH = '/callback';

/** Listens on the port, or on any free one. */
export async function openCallback(childName: string, port: number | undefined): Promise<Callback> {
  const state = randomBytes(32).toString('base64url');
  let take: (answer: URLSearchParams) => void = () => {};
  let fail: (error: unknown) => void = () => {};
  const answer = new Promise<URLSearchParams>((resolve, reject) => {
    take = resolve;
    fail = reject;
  });
  answer.catch(() => {}); // it may fail before anything awaits it
  let isAnswered = false;

  const serve = (request: IncomingMessage, response: ServerResponse): void => {
    const [path = '', query] = (request.url ?? '').split('?', 2);
    const searchParams = new URLSearchParams(query);
    if (request.method !== 'GET' || path !== PATH || isAnswered) {
      return sendPage(response, 404, 'Not found.');
    }
    if (!isSameSecret(searchParams.get('state') ?? '', state)) {
      return sendPage(response, 400, "This response doesn't belong to the current sign-in.");
    }
    isAnswered = true;
    // Only after the page was sent: the server closes next.
    response.once(
      'close',
      guard(fail, () => take(searchParams)),
    );
    return searchParams.has('code')
      ? sendPage(response, 200, 'You are signed in.')
      : sendPage(response, 200, 'Sign-in failed.');
  };
  const server = createServer(guard(fail, serve));
  await new Promise<void>((resolve, reject) => {
    const refuse = (cause: NodeJS.ErrnoException): void => {
      const reason = `port ${port ?? 0} on this machine can't be used (${cause.code})`;
      reject(signInFailed(childName, reason, { cause, hint: PORT_HINT }));
    };
    server.on('error', guard(reject, refuse));
    server.listen(port ?? 0, HOST, resolve);
  });
  const { port: opened } = server.address() as AddressInfo;
  return {
    redirectUrl: `http://${HOST}:${opened}${PATH}`,
    state,
    answer,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const PORT_HINT =
  'The browser returns to this port. Stop the program that uses it, or set another "callbackPort".';

/** Contains nothing from the request. */
function sendPage(response: ServerResponse, status: number, sentence: string): void {
  response.writeHead(status, {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': "default-src 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    connection: 'close',
  });
  response.end(
    `<!doctype html><meta charset="utf-8"><title>Switchboard</title><p>${sentence} You can close this window.</p>\n`,
  );
}
