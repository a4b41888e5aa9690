// HTTP proxies from HTTP_PROXY, HTTPS_PROXY and NO_PROXY, which may also be written in lower case.
// https and WebSocket connections are tunneled with CONNECT; plain http requests are forwarded.
import { type AgentOptions, Agent as HttpAgent, type IncomingMessage, request } from 'node:http';
import { Agent as HttpsAgent, request as requestTls } from 'node:https';
import { BlockList, isIP, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { guard } from '../base/guard.ts';
import { codeOf } from '../base/system-error.ts';
import { isLoopbackHost } from './address-kind.ts';
import { takeCredentials } from './basic-auth.ts';

export interface ProxyServer {
  /** Without the credentials. */
  readonly url: URL;
  /** Sent to the proxy with each request. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The proxy can't be used or refused the connection. The message is the end of a sentence. */
export class ProxyError extends Error {
  override readonly name = 'ProxyError';
}

/** The proxy to use for a URL. This machine is always reached directly. Throws a ProxyError. */
export function proxyFor(target: URL, env: NodeJS.ProcessEnv): ProxyServer | undefined {
  const isSecure = target.protocol === 'https:' || target.protocol === 'wss:';
  const name = isSecure ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = (env[name.toLowerCase()] ?? env[name])?.trim();
  if (!value || isLoopbackHost(target.hostname) || isExempt(target, env)) return undefined;
  return parseProxy(name, value);
}

function parseProxy(name: string, value: string): ProxyServer {
  const written = value.includes('://') ? value : `http://${value}`;
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new ProxyError(`${name} is not an http:// or https:// URL`);
  }
  const credentials = takeCredentials(url);
  return { url, headers: credentials ? { 'proxy-authorization': credentials } : {} };
}

function isExempt({ protocol, hostname, port }: URL, env: NodeJS.ProcessEnv): boolean {
  const entries = (env['no_proxy'] ?? env['NO_PROXY'] ?? '').toLowerCase().split(/[\s,]+/);
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const actualPort = port || (protocol === 'https:' || protocol === 'wss:' ? '443' : '80');
  return entries.some((entry) => {
    if (entry === '' || entry === '*') return entry === '*';
    if (entry.includes('/')) return isInSubnet(host, entry);
    const [, name = '', entryPort = actualPort] =
      /^(?:\*?\.)?\[?(.*?)\]?(?::(\d+))?$/.exec(isIP(entry) === 6 ? `[${entry}]` : entry) ?? [];
    return entryPort === actualPort && (host === name || host.endsWith(`.${name}`));
  });
}

/** `subnet` is in CIDR notation. */
function isInSubnet(host: string, subnet: string): boolean {
  const [network = '', bits] = subnet.split('/');
  const version = isIP(host);
  if (version === 0 || version !== isIP(network)) return false;
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  try {
    list.addSubnet(network, Number(bits), family);
  } catch {
    return false; // not a valid prefix length
  }
  return list.check(host, family);
}

export interface TunnelOptions {
  readonly proxy: ProxyServer;
  /** The protocol inside the tunnel. */
  readonly inside: 'plain' | 'tls';
  /** Milliseconds for the tunnel and the TLS handshake inside it. */
  readonly connectMs: number;
}

/** An agent whose connections are tunnels through a proxy. */
export function createTunnelAgent(tunnel: TunnelOptions, options: AgentOptions): HttpAgent {
  const agent = tunnel.inside === 'tls' ? new HttpsAgent(options) : new HttpAgent(options);
  const destroy = agent.destroy.bind(agent);
  const opening = new Set<AbortController>();
  return Object.assign(agent, {
    createConnection(target: ConnectionOptions, callback: Connected): undefined {
      const controller = new AbortController();
      opening.add(controller);
      openTunnel(tunnel, target, controller.signal, (error, socket) => {
        opening.delete(controller);
        callback(error, socket);
      });
    },
    destroy(): void {
      for (const controller of opening) controller.abort();
      destroy();
    },
  });
}

type Connected = (error: Error | null, socket?: Socket) => void;

function openTunnel(
  { proxy, inside, connectMs }: TunnelOptions,
  target: ConnectionOptions,
  signal: AbortSignal,
  onSettled: Connected,
): void {
  const host = isIP(target.host ?? '') === 6 ? `[${target.host}]` : target.host;
  const path = `${host}:${target.port}`;
  const send = proxy.url.protocol === 'https:' ? requestTls : request;
  const opening = send(proxy.url, {
    method: 'CONNECT',
    path,
    headers: { ...proxy.headers, host: path },
    agent: false,
    rejectUnauthorized: true,
  });
  let socket: Socket | undefined;
  let isSettled = false;
  const settle: Connected = (error, connected) => {
    if (isSettled) return;
    isSettled = true;
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
    onSettled(error, connected);
  };
  const fail = (error: unknown): void => {
    settle(error as Error);
    opening.destroy();
    socket?.destroy();
  };
  const abort = guard(fail, () => fail(new Error('The connection was closed.')));
  const tooLate = (): void =>
    fail(new ProxyError(`the proxy ${proxy.url.host} didn't connect in time`));
  const opened = ({ statusCode = 0 }: IncomingMessage, raw: Socket, head: Buffer): void => {
    socket = raw;
    raw.on('error', guard(fail, fail));
    if (statusCode < 200 || statusCode > 299) return fail(refusedBy(proxy, statusCode));
    if (head.length > 0) raw.unshift(head);
    if (inside === 'plain') return settle(null, raw);
    const secured = connectTls({ ...target, socket: raw });
    secured.on('error', guard(fail, fail));
    const checked = (): void => settle(null, secured);
    return void secured.once('secureConnect', guard(fail, checked));
  };
  const failed = (error: Error): void => fail(unreachable(proxy, error));
  const timer = setTimeout(guard(fail, tooLate), connectMs);
  signal.addEventListener('abort', abort);
  opening.once('error', guard(fail, failed));
  opening.once('connect', guard(fail, opened));
  opening.end();
}

/** The proxy answered a request with this status instead of forwarding it. */
export function refusedBy({ url }: ProxyServer, status: number): ProxyError {
  const why = status === 407 ? 'requires valid credentials' : 'refused the connection';
  return new ProxyError(`the proxy ${url.host} ${why} (HTTP ${status})`);
}

/** For an error that came before the proxy answered. */
export function unreachable({ url }: ProxyServer, cause: unknown): ProxyError {
  const why = codeOf(cause) ?? String(cause);
  return new ProxyError(`the proxy ${url.host} can't be reached (${why})`, { cause });
}
