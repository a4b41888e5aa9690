// Where documents of a sign-in may be fetched from, shown by a trap on this machine that must not be
// reached in any spelling of its address.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, createServer as createTrap, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, onTestFinished, test, vi } from 'vitest';
import { Cancellation } from '../../../../src/base/cancellation.ts';
import { SwitchboardError } from '../../../../src/base/errors.ts';
import { createSafeFetch } from '../../../../src/child/sign-in/safe-fetch.ts';
import { hasOpenssl } from '../../../support/certificates.ts';

const NAMES: Record<string, string[]> = {
  'server.example': ['93.184.216.34'],
  'public.example': ['93.184.216.35'],
  'private.example': ['10.0.0.5'],
  'loopback.example': ['127.0.0.1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'metadata.example': ['169.254.169.254'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  localhost: ['127.0.0.1', '::1'],
  'localhost.': ['127.0.0.1'],
  'app.localhost': ['127.0.0.1'],
  'localtest.example.': ['127.0.0.1'],
};

async function resolve(hostname: string): Promise<string[]> {
  const addresses = NAMES[hostname];
  if (!addresses) throw new Error(`${hostname} is not known`);
  return addresses;
}

/** Listens on a free port, which it gives. */
async function listen(server: Server): Promise<number> {
  await new Promise<void>((done) => server.listen(0, done)); // on every address of this machine
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

async function startTrap(): Promise<{ port: number; connections: () => number }> {
  let connections = 0;
  const trap = createTrap((socket) => {
    connections++;
    socket.destroy();
  });
  return { port: await listen(trap), connections: () => connections };
}

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  onTestFinished(() => server.closeAllConnections());
  return `http://127.0.0.1:${await listen(server)}`;
}

async function failureOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => expect.fail('did not fail'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof SwitchboardError)) throw error;
  return error.message.replace('Signing in to server "files" failed: ', '');
}

const PLACES = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0X7F.1',
  '0x7f.0x0.0x0.0x1',
  '0177.0.0.1',
  '0177.0.0.01',
  '017700000001',
  '①②⑦.⓪.⓪.①',
  '１２７．０．０．１',
  '127。0。0。1',
  '%31%32%37.0.0.1',
  '0',
  '0.0.0.0',
  '0x0',
  'localhost',
  'LOCALHOST',
  'LocalHost',
  'localhost.',
  'ｌｏｃａｌｈｏｓｔ',
  'app.localhost',
  'loopback.example',
  'LOOPBACK.example',
  'localtest.example.',
  'mapped.example',
  'mixed.example',
  'private.example',
  'metadata.example',
  '[::1]',
  '[0:0:0:0:0:0:0:1]',
  '[0000::0001]',
  '[::]',
  '[::ffff:127.0.0.1]',
  '[::FFFF:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:7f00:0001]',
  '[::127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[2002:7f00:1::]',
  '[fe80::1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fec0::1]',
  '[ff02::1]',
  '10.0.0.1',
  '0xa.0.0.1',
  '012.0.0.1',
  '167772161',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.1',
  '0xc0a80001',
  '100.64.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
];

test('a server on the internet cannot send us to the private network, however it is written', async () => {
  const { port, connections } = await startTrap();
  const serverUrl = new URL('https://server.example/mcp');
  const net = createSafeFetch({ childName: 'files', serverUrl, resolve });
  for (const host of PLACES) {
    expect(await failureOf(net.fetch(`https://${host}:${port}/x`)), host).toMatch(
      /^it points to https:\/\/\S+, which is (on this machine|in a private network|in the local network|a reserved address)\.$/,
    );
    expect(await failureOf(net.probe(`http://${host}:${port}/x`)), host).toMatch(
      /^it points to http:\/\/\S+, but only https is allowed\.$/,
    );
  }
  expect(PLACES.length).toBeGreaterThan(60);
  expect(connections()).toBe(0);
});

test.each([
  ['http://public.example/', 'it points to http://public.example, but only https is allowed.'],
  ['ftp://public.example/', 'it points to ftp://public.example/, but only https is allowed.'],
  ['file:///etc/passwd', 'it points to file:///etc/passwd, but only https is allowed.'],
  ['data:,x', 'it points to data:,x, but only https is allowed.'],
  ['nonsense', 'it points to nonsense, which is not a valid URL.'],
  [
    'https://me:secret@public.example/',
    'it points to a URL at https://public.example that contains a password.',
  ],
  [
    'https://unknown.example/',
    'unknown.example could not be reached (unknown.example is not known).',
  ],
])('%s is not contacted', async (address, text) => {
  const serverUrl = new URL('https://server.example/mcp');
  const net = createSafeFetch({ childName: 'files', serverUrl, resolve });
  expect(await failureOf(net.fetch(address))).toBe(text);
});

test('a server on this machine may send us to this machine, but not to the network', async () => {
  const origin = await serve((_, response) => response.end('{}'));
  const net = createSafeFetch({ childName: 'files', serverUrl: new URL(`${origin}/mcp`), resolve });
  expect(await (await net.fetch(`${origin}/a`)).text()).toBe('{}');
  expect(await (await net.fetch(origin.replace('127.0.0.1', 'localhost'))).text()).toBe('{}');
  expect(await failureOf(net.fetch('https://private.example/'))).toMatch(/in a private network/);
  expect(await failureOf(net.fetch('https://metadata.example/'))).toMatch(/in the local network/);
  expect(await failureOf(net.fetch('http://public.example/'))).toMatch(/only https is allowed/);
});

test('connects to the address that was checked', async () => {
  const origin = await serve((_, response) => response.end('{}'));
  const asked: string[] = [];
  const net = createSafeFetch({
    childName: 'files',
    serverUrl: new URL('http://loopback.example/mcp'),
    // A resolver with another answer each time: no name is asked for twice within one request.
    resolve: async (hostname) => {
      asked.push(hostname);
      return asked.filter((name) => name === hostname).length > 1 ? ['10.0.0.1'] : ['127.0.0.1'];
    },
  });
  const { port } = new URL(origin);
  // Neither name exists in the system's own resolver.
  expect((await net.fetch(`http://loopback.example:${port}/`)).status).toBe(200);
  expect((await net.fetch(`http://loopback.example:${port}/`)).status).toBe(200);
  expect((await net.fetch(`http://other.example:${port}/`)).status).toBe(200);
  expect(asked).toEqual(['loopback.example', 'other.example']);
  expect(await failureOf(net.fetch(`http://other.example:${port}/`))).toMatch(/only https/);
});

test.each([
  ['one address', ['127.255.255.255']],
  ['several addresses', ['127.255.255.255', '127.255.255.255']],
  ['no address', []],
])('a name with %s that refuses connections at once is an ordinary failure', async (_, found) => {
  const net = createSafeFetch({
    childName: 'files',
    serverUrl: new URL('https://server.example'),
    resolve: async () => found,
  });
  expect(await failureOf(net.fetch('https://server.example'))).toMatch(
    /^server\.example could not be reached/,
  );
});

test('a redirect is not followed, not even to the same URL', async () => {
  const { port, connections } = await startTrap();
  const paths: (string | undefined)[] = [];
  const origin = await serve((request, response) => {
    paths.push(request.url);
    const location = request.url === '/near' ? '/other' : `http://127.0.0.1:${port}/`;
    response.writeHead(302, { location }).end();
  });
  const net = createSafeFetch({ childName: 'files', serverUrl: new URL(origin) });
  for (const path of ['/near', '/far']) {
    const response = await net.fetch(`${origin}${path}`);
    expect([response.status, response.headers.get('location')]).toEqual([302, null]);
  }
  expect(paths).toEqual(['/near', '/far']);
  expect(connections()).toBe(0);
});

test('a document is limited to a megabyte', async () => {
  const origin = await serve((request, response) => {
    response.end('x'.repeat(request.url === '/fits' ? 1 << 20 : (1 << 20) + 1));
  });
  const net = createSafeFetch({ childName: 'files', serverUrl: new URL(origin) });
  expect((await (await net.fetch(`${origin}/fits`)).text()).length).toBe(1 << 20);
  expect(await failureOf(net.fetch(`${origin}/`))).toMatch(/sent more than a megabyte/);
});

test('a document is not decompressed', async () => {
  const packed = gzipSync('x'.repeat(10 << 20));
  const origin = await serve((request, response) => {
    expect(request.headers['accept-encoding']).toBe('identity');
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(packed);
  });
  const net = createSafeFetch({ childName: 'files', serverUrl: new URL(origin) });
  expect((await (await net.fetch(origin)).text()).length).toBeLessThan(1 << 20);
});

test.each<[string, RequestListener]>([
  ['says nothing', () => {}],
  ['does not end', (_, response) => void response.writeHead(200).write('{')],
])('a host that %s is given up', async (_, listener) => {
  const origin = await serve(listener);
  const net = createSafeFetch({ childName: 'files', serverUrl: new URL(origin), limitMs: 300 });
  expect(await failureOf(net.fetch(origin))).toMatch(/did not respond within 300 ms/);
});

test('a resolver that does not answer is also given up', async () => {
  const net = createSafeFetch({
    childName: 'files',
    serverUrl: new URL('https://server.example'),
    limitMs: 50,
    resolve: () => new Promise(() => {}),
  });
  expect(await failureOf(net.fetch('https://server.example'))).toMatch(/did not respond/);
});

test('probing works with an endless stream', async () => {
  const origin = await serve((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': hello\n\n');
  });
  const net = createSafeFetch({ childName: 'files', serverUrl: new URL(origin) });
  expect((await net.probe(origin)).headers.get('content-type')).toBe('text/event-stream');
});

test('requests in progress can be cancelled', async () => {
  const cancellation = new Cancellation();
  const origin = await serve(() => cancellation.cancel(new SwitchboardError('CANCELLED', 'Stop.')));
  const net = createSafeFetch({ childName: 'files', serverUrl: new URL(origin), cancellation });
  await expect(net.fetch(origin)).rejects.toMatchObject({ code: 'CANCELLED' });
  await expect(net.fetch(origin)).rejects.toMatchObject({ code: 'CANCELLED' });
});

test.skipIf(!hasOpenssl())(
  'a self-signed certificate is not accepted, whatever the environment says',
  async () => {
    const folder = mkdtempSync(join(tmpdir(), 'switchboard-tls-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
    const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=localhost`;
    execFileSync('openssl', [...words.split(' '), '-keyout', key, '-out', cert], {
      stdio: 'ignore',
    });
    let requests = 0;
    const server = createSecureServer(
      { key: readFileSync(key), cert: readFileSync(cert) },
      (_, response) => {
        requests++;
        response.end();
      },
    );
    const port = await listen(server);
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    const serverUrl = new URL(`https://localhost:${port}/`);
    const net = createSafeFetch({ childName: 'files', serverUrl });
    expect(await failureOf(net.fetch(serverUrl))).toBe(
      `localhost:${port} could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT).`,
    );
    expect(requests).toBe(0);
  },
);
