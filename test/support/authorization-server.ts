// A real issuer on loopback and a server that requires users to sign in there. The issuer is strict: it
// checks PKCE, redirect URL and resource, and accepts each refresh token once. If one is reused, it revokes
// the whole token family.
import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Faults and deviations. Tests can change them at any time. */
export interface Faults {
  /** Overrides the issuer's metadata; undefined removes a key. */
  metadata?: Record<string, unknown>;
  /** Overrides the server's own metadata. */
  resourceMetadata?: Record<string, unknown>;
  /** The server has no metadata and doesn't mention any. */
  hideResourceMetadata?: boolean;
  /** The server requires no sign-in and has no metadata. */
  open?: boolean;
  /** Overrides the redirect's parameters; undefined removes one. */
  answer?: Record<string, string | undefined>;
  /** Token lifetime in seconds; 3600 unless set. */
  expiresIn?: number | undefined;
  /** The token endpoint's answer. */
  token?: { status: number; body: string };
  /** Called with each token request before it's answered. */
  onToken?: (form: URLSearchParams) => void | Promise<void>;
  /** Issues no refresh tokens. */
  withoutRefresh?: boolean;
  registration?: { status: number; body: string };
  revocation?: { status: number };
}

interface Received {
  readonly method: string;
  readonly path: string;
  readonly form: URLSearchParams;
  readonly headers: IncomingMessage['headers'];
}

export interface AuthorizationServer extends AsyncDisposable {
  readonly issuer: string;
  /** The URL of the server that requires sign-in. */
  readonly serverUrl: string;
  readonly faults: Faults;
  /** Every request, in order. */
  readonly received: Received[];
  /** Whether the server accepts this header. */
  readonly accepts: (authorization: string | undefined) => boolean;
  /** The number of refresh requests. */
  readonly refreshes: () => number;
  /** Whether a refresh token was used twice. */
  readonly wasReused: boolean;
  /** Every secret issued or received. */
  readonly secrets: Set<string>;
}

interface Family {
  readonly clientId: string;
  readonly resource: string;
  readonly access: Set<string>;
  refresh: string;
}

export async function startAuthorizationServer(faults: Faults = {}): Promise<AuthorizationServer> {
  const received: Received[] = [];
  const secrets = new Set<string>();
  const clients = new Map<string, { redirect: string; secret: string | undefined }>();
  clients.set('configured', { redirect: '*', secret: 'configured-secret-value' });
  secrets.add('configured-secret-value');
  const codes = new Map<
    string,
    { challenge: string; redirect: string; clientId: string; resource: string }
  >();
  const families = new Set<Family>();
  const spent = new Map<string, Family>();
  const state = { wasReused: false };
  const secret = (kind: string): string => {
    const value = `${kind}-${randomUUID()}`;
    secrets.add(value);
    return value;
  };

  const metadata = (issuer: string): object => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    registration_endpoint: `${issuer}/register`,
    revocation_endpoint: `${issuer}/revoke`,
    response_types_supported: ['code'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none', 'client_secret_basic'],
    authorization_response_iss_parameter_supported: true,
    ...faults.metadata,
  });

  const giveTokens = (family: Family): object => {
    const access = secret('access');
    family.access.add(access);
    family.refresh = secret('refresh');
    return {
      access_token: access,
      token_type: 'Bearer',
      expires_in: faults.expiresIn ?? 3_600,
      scope: 'tools',
      ...(faults.withoutRefresh ? {} : { refresh_token: family.refresh }),
    };
  };

  const isKnownClient = (form: URLSearchParams, headers: IncomingMessage['headers']): boolean => {
    const [, basic = ''] = /^Basic (.*)$/.exec(headers.authorization ?? '') ?? [];
    const [id = '', password] = Buffer.from(basic, 'base64').toString().split(':');
    const client = clients.get(form.get('client_id') ?? id);
    return client !== undefined && client.secret === password;
  };

  const token = ({ form, headers }: Received): [number, object] => {
    const refuse = (error: string): [number, object] => [400, { error }];
    if (!isKnownClient(form, headers)) return refuse('invalid_client');
    if (form.get('grant_type') === 'authorization_code') {
      const code = codes.get(form.get('code') ?? '');
      codes.delete(form.get('code') ?? '');
      const verifier = form.get('code_verifier') ?? '';
      secrets.add(verifier);
      const challenge = createHash('sha256').update(verifier).digest('base64url');
      if (!code || code.challenge !== challenge) return refuse('invalid_grant');
      if (code.redirect !== form.get('redirect_uri')) return refuse('invalid_grant');
      if (code.resource !== form.get('resource')) return refuse('invalid_target');
      const { clientId, resource } = code;
      const family: Family = { clientId, resource, access: new Set(), refresh: '' };
      families.add(family);
      return [200, giveTokens(family)];
    }
    const used = form.get('refresh_token') ?? '';
    const stolen = spent.get(used);
    if (stolen) {
      state.wasReused = true;
      families.delete(stolen);
      return refuse('invalid_grant');
    }
    const family = [...families].find(({ refresh }) => refresh === used);
    if (!family || family.resource !== form.get('resource')) return refuse('invalid_grant');
    spent.set(used, family);
    family.access.clear();
    return [200, giveTokens(family)];
  };

  const answer = async (request: Received, url: URL, response: ServerResponse): Promise<void> => {
    const issuer = url.origin;
    const json = (status: number, body: unknown, headers: Record<string, string> = {}): void => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof body === 'string' ? body : JSON.stringify(body));
    };
    switch (url.pathname) {
      case '/mcp': {
        if (faults.open || accepts(request.headers.authorization)) return json(200, {});
        const where = `${issuer}/.well-known/oauth-protected-resource/mcp`;
        const hint = faults.hideResourceMetadata ? '' : `, resource_metadata="${where}"`;
        return json(401, {}, { 'www-authenticate': `Bearer realm="test"${hint}` });
      }
      case '/.well-known/oauth-protected-resource/mcp':
        if (faults.open || faults.hideResourceMetadata) break;
        return json(200, {
          resource: `${issuer}/mcp`,
          authorization_servers: [issuer],
          scopes_supported: ['tools'],
          ...faults.resourceMetadata,
        });
      case '/.well-known/oauth-authorization-server':
        if (faults.open) break;
        return json(200, metadata(issuer));
      case '/register': {
        if (faults.registration) return json(faults.registration.status, faults.registration.body);
        const asked = JSON.parse(request.form.get('json') ?? '') as { redirect_uris: string[] };
        const id = randomUUID();
        clients.set(id, { redirect: asked.redirect_uris[0] ?? '', secret: undefined });
        return json(201, { ...asked, client_id: id });
      }
      case '/authorize': {
        const { searchParams: asked } = url;
        const redirect = asked.get('redirect_uri') ?? '';
        const client = clients.get(asked.get('client_id') ?? '');
        const isWelcome = client?.redirect === '*' || client?.redirect === redirect;
        if (!isWelcome || asked.get('code_challenge_method') !== 'S256') {
          return json(400, { error: 'invalid_request' });
        }
        const code = secret('code');
        codes.set(code, {
          challenge: asked.get('code_challenge') ?? '',
          redirect,
          clientId: asked.get('client_id') ?? '',
          resource: asked.get('resource') ?? '',
        });
        const back = new URL(redirect);
        const given = {
          code,
          state: asked.get('state') ?? undefined,
          iss: issuer,
          ...faults.answer,
        };
        for (const [name, value] of Object.entries(given)) {
          if (value !== undefined) back.searchParams.set(name, value);
        }
        response.writeHead(302, { location: back.href });
        response.end();
        return;
      }
      case '/token': {
        await faults.onToken?.(request.form);
        if (faults.token) return json(faults.token.status, faults.token.body);
        return json(...token(request));
      }
      case '/revoke': {
        if (faults.revocation) return json(faults.revocation.status, {});
        const used = request.form.get('token') ?? '';
        const family = [...families].find(
          ({ access, refresh }) => access.has(used) || refresh === used,
        );
        if (family) families.delete(family);
        return json(200, {});
      }
    }
    json(404, {});
  };

  const accepts = (authorization: string | undefined): boolean =>
    [...families].some(({ access }) => access.has(authorization?.replace(/^Bearer /, '') ?? ''));

  const server = createServer((message, response) => {
    void readForm(message).then((form) => {
      const { method = '', url: path = '/', headers } = message;
      const url = new URL(path, issuerOf(server));
      const request = { method, path: url.pathname, form, headers };
      received.push(request);
      return answer(request, url, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    issuer: issuerOf(server),
    serverUrl: `${issuerOf(server)}/mcp`,
    faults,
    received,
    accepts,
    refreshes: () =>
      received.filter(({ form }) => form.get('grant_type') === 'refresh_token').length,
    get wasReused() {
      return state.wasReused;
    },
    secrets,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function issuerOf(server: Server): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** The submitted form; a JSON body becomes the field `json`. */
async function readForm(message: IncomingMessage): Promise<URLSearchParams> {
  let text = '';
  for await (const part of message.setEncoding('utf8')) text += part;
  const isJson = message.headers['content-type'] === 'application/json';
  return isJson ? new URLSearchParams({ json: text }) : new URLSearchParams(text);
}
