// HTTP_PROXY, HTTPS_PROXY and NO_PROXY, with a real proxy on loopback. `far.example` exists only there.
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { WebSocketServer } from 'ws';
import { createSafeFetch } from '../../../src/child/sign-in/safe-fetch.ts';
import { proxyFor } from '../../../src/net/proxy.ts';
import { createCertificate, hasOpenssl } from '../../support/certificates.ts';
import { OddServer, result } from '../../support/odd-http-server.ts';
import { createProject, FIXTURES, ROOT } from '../../support/project.ts';
import { startProxy } from '../../support/proxy-server.ts';
import { callText, failureOf, startRemote } from '../../support/remote-child.ts';

const chosen = (url: string, env: Record<string, string>) => proxyFor(new URL(url), env)?.url.href;

describe('the proxy for a URL', () => {
  const env = { HTTP_PROXY: 'http://plain:1', HTTPS_PROXY: 'secure:2' };

  test.each([
    ['http://a.example/', 'http://plain:1/'],
    ['ws://a.example/', 'http://plain:1/'],
    ['https://a.example/', 'http://secure:2/'],
    ['wss://a.example/', 'http://secure:2/'],
    ['http://localhost:3000/', undefined],
    ['https://app.localhost/', undefined],
    ['http://127.0.0.1:3000/', undefined],
    ['http://[::1]:3000/', undefined],
  ])('%s: %s', (url, proxy) => {
    expect(chosen(url, env)).toBe(proxy);
  });

  test('lower case takes precedence, and nothing is set by default', () => {
    expect(chosen('https://a.example', { ...env, https_proxy: 'other:3' })).toBe('http://other:3/');
    expect(chosen('https://a.example', {})).toBeUndefined();
    expect(chosen('https://a.example', { HTTPS_PROXY: ' ' })).toBeUndefined();
  });

  test('a stray % in its password is kept', () => {
    const proxy = proxyFor(new URL('https://a.example'), { HTTPS_PROXY: 'http://me:50%off@p:1' });
    const pair = Buffer.from('me:50%off').toString('base64');
    expect(proxy?.headers).toEqual({ 'proxy-authorization': `Basic ${pair}` });
  });

  test.each([
    ['a.example', true],
    ['A.EXAMPLE', true],
    ['.a.example', true],
    ['*.a.example', true],
    ['example', true],
    ['b.example, a.example', true],
    ['b.example a.example:443', true],
    ['*', true],
    ['a.example:8443', false],
    ['ba.example', false],
    ['a.exam', false],
    ['', false],
  ])('NO_PROXY=%j exempts https://a.example: %s', (list, isExempt) => {
    expect(chosen('https://a.example', { ...env, NO_PROXY: list }) === undefined).toBe(isExempt);
  });

  test.each([
    ['http://10.1.2.3', '10.0.0.0/8', true],
    ['http://11.1.2.3', '10.0.0.0/8', false],
    ['http://10.1.2.3', '10.1.2.3', true],
    ['http://10.1.2.3', '10.0.0.0/99', false],
    ['http://[fd00::1]', 'fd00::/8', true],
    ['http://[fd00::1]', 'fd00::1', true],
    ['http://[fd00::1]:8080', '[fd00::1]:8080', true],
    ['http://[fd00::1]:8080', '[fd00::1]:80', false],
    ['http://a.example', '10.0.0.0/8', false],
  ])('%s with NO_PROXY=%s: %s', (url, list, isExempt) => {
    expect(chosen(url, { ...env, no_proxy: list }) === undefined).toBe(isExempt);
  });

  test.each(['socks5://proxy:1080', 'http://', 'proxy host'])('%s is rejected', (value) => {
    expect(() => chosen('https://a.example', { HTTPS_PROXY: value })).toThrow(
      'HTTPS_PROXY is not an http:// or https:// URL',
    );
  });
});

function useProxy(address: string): void {
  vi.stubEnv('http_proxy', `http://${address}`);
  vi.stubEnv('https_proxy', `http://${address}`);
  vi.stubEnv('no_proxy', '');
  onTestFinished(() => void vi.unstubAllEnvs());
}

const portOf = ({ origin }: OddServer): number => Number(new URL(origin).port);

test('plain http is forwarded, and only the proxy sees its credentials', async () => {
  const server = await OddServer.start();
  const proxy = await startProxy(portOf(server));
  useProxy(`me:p%40ss@${proxy.address}`);
  const { child } = await startRemote('http://far.example/mcp?a=1');
  expect(await callText(child, 'any')).toContain('done');
  expect(proxy.requests[0]).toMatchObject({
    method: 'POST',
    target: 'http://far.example/mcp?a=1',
    headers: {
      host: 'far.example',
      'proxy-authorization': `Basic ${Buffer.from('me:p@ss').toString('base64')}`,
    },
  });
});

test('a WebSocket goes through a tunnel', async () => {
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(sockets, 'listening');
  onTestFinished(() => {
    for (const client of sockets.clients) client.terminate();
    sockets.close();
  });
  const greeting = '{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{}}';
  sockets.on('connection', (client) => {
    client.on('message', (data: Buffer) => {
      const { id } = JSON.parse(data.toString()) as { id?: number };
      if (id !== undefined) client.send(result(id, greeting));
    });
  });
  const proxy = await startProxy((sockets.address() as AddressInfo).port);
  useProxy(proxy.address);
  const { child } = await startRemote('ws://far.example/mcp', { type: 'ws' });
  expect(await callText(child, 'any')).toBe(greeting);
  expect(proxy.requests).toMatchObject([{ method: 'CONNECT', target: 'far.example:80' }]);
});

test('this machine is reached directly', async () => {
  const server = await OddServer.start();
  const proxy = await startProxy(9);
  useProxy(proxy.address);
  const { child } = await startRemote(server.url);
  expect(await callText(child, 'any')).toContain('done');
  expect(proxy.requests).toEqual([]);
});

describe('a proxy that', () => {
  const HINT =
    "Check HTTPS_PROXY and HTTP_PROXY in the host's environment, or list the server in NO_PROXY.";

  test.each([
    ['http', 407, 'requires valid credentials (HTTP 407)'],
    ['https', 407, 'requires valid credentials (HTTP 407)'],
    ['https', 403, 'refused the connection (HTTP 403)'],
  ])('answers %s with %d', async (scheme, refuse, why) => {
    const proxy = await startProxy(9, { refuse });
    useProxy(proxy.address);
    expect(await failureOf(startRemote(`${scheme}://far.example/mcp`))).toMatchObject({
      code: 'CHILD_UNREACHABLE',
      message: `Server "far" can't be reached at ${scheme}://far.example: the proxy ${proxy.address} ${why}.`,
      hint: HINT,
    });
  });

  test.each(['http', 'https'])('is unreachable (%s)', async (scheme) => {
    useProxy('127.0.0.1:9');
    expect((await failureOf(startRemote(`${scheme}://far.example/mcp`))).message).toBe(
      `Server "far" can't be reached at ${scheme}://far.example: the proxy 127.0.0.1:9 can't be reached (ECONNREFUSED).`,
    );
  });

  test('closes the connection is tried once', async () => {
    const proxy = await startProxy(9, { drop: true });
    useProxy(proxy.address);
    expect((await failureOf(startRemote('https://far.example/mcp'))).message).toBe(
      `Server "far" can't be reached at https://far.example: the proxy ${proxy.address} can't be reached (ECONNRESET).`,
    );
    expect(proxy.requests).toHaveLength(1);
  });
});

describe.skipIf(!hasOpenssl())('TLS inside a tunnel', () => {
  test('is checked against the server’s name', async () => {
    const tls = createCertificate(createProject(), 'DNS:far.example');
    const server = await OddServer.start({ tls });
    const proxy = await startProxy(portOf(server));
    const connectTo = async (host: string) => {
      const args = ['--import', 'tsx', join(FIXTURES, 'connect.ts'), `https://${host}/mcp`];
      const env = { ...process.env, NODE_EXTRA_CA_CERTS: tls.certFile };
      const { stdout } = await promisify(execFile)(process.execPath, args, {
        cwd: ROOT,
        env: { ...env, https_proxy: `http://${proxy.address}`, no_proxy: '' },
      });
      return stdout.trim();
    };
    expect(await connectTo('far.example')).toBe('connected');
    expect(proxy.requests[0]).toMatchObject({ method: 'CONNECT', target: 'far.example:443' });
    expect(server.count('initialize')).toBe(1);
    expect(await connectTo('other.example')).toContain('is for another host name');
  });

  test('sign-in documents come through the proxy, which may resolve more names than we can', async () => {
    const tls = createCertificate(createProject(), 'DNS:issuer.example');
    const server = await OddServer.start({ tls });
    const proxy = await startProxy(portOf(server));
    const net = createSafeFetch({
      childName: 'files',
      serverUrl: new URL('https://server.example/mcp'),
      resolve: async (name) => {
        if (name === 'inner.example') return ['10.0.0.1'];
        throw new Error(`${name} is not known`);
      },
      env: { HTTPS_PROXY: proxy.address },
    });
    const failure = async (url: string) => (await failureOf(net.fetch(url))).message;
    // Nothing is sent: the certificate isn't trusted here.
    expect(await failure('https://issuer.example/x')).toContain('(DEPTH_ZERO_SELF_SIGNED_CERT)');
    expect(await failure('https://inner.example/x')).toContain('which is in a private network');
    expect(await failure('https://10.0.0.1/x')).toContain('which is in a private network');
    expect(proxy.requests.map(({ target }) => target)).toEqual(['issuer.example:443']);
    expect(server.requests).toEqual([]);
  });
});
