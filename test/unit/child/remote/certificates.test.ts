import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { type Certificate, createCertificate, hasOpenssl } from '../../../support/certificates.ts';
import { OddServer } from '../../../support/odd-http-server.ts';
import { createProject, FIXTURES, ROOT } from '../../../support/project.ts';
import { failureOf, startRemote } from '../../../support/remote-child.ts';

/** What comes of connecting in a process that trusts the certificate itself. */
async function connectTrusting({ certFile }: Certificate, url: string, env = {}): Promise<string> {
  const args = ['--import', 'tsx', join(FIXTURES, 'connect.ts'), url];
  const { stdout } = await promisify(execFile)(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, NODE_EXTRA_CA_CERTS: certFile, ...env },
  });
  return stdout.trim();
}

describe.skipIf(!hasOpenssl())('a server’s certificate', () => {
  test('that is self-signed is not trusted, and nothing is sent', async () => {
    const tls = createCertificate(createProject(), 'IP:127.0.0.1');
    const server = await OddServer.start({ tls });
    const error = await failureOf(
      startRemote(server.url, { headers: { authorization: 'Bearer secret' } }),
    );
    expect(error).toMatchObject({
      code: 'CHILD_UNREACHABLE',
      message: `Server "far" cannot be trusted: the certificate of ${server.origin} is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT).`,
      hint: "Replace the certificate; this check can't be turned off. To trust your own certificate authority, set NODE_EXTRA_CA_CERTS in the host's environment.",
    });
    expect(server.requests).toEqual([]);
  });

  test('is not trusted even if the environment disables checks', async () => {
    const tls = createCertificate(createProject(), 'IP:127.0.0.1');
    const server = await OddServer.start({ tls });
    const env = { NODE_EXTRA_CA_CERTS: '', NODE_TLS_REJECT_UNAUTHORIZED: '0' };
    expect(await connectTrusting(tls, server.url, env)).toContain('is self-signed');
    expect(server.requests).toEqual([]);
  });

  test('that is trusted is accepted', async () => {
    const tls = createCertificate(createProject(), 'IP:127.0.0.1');
    const server = await OddServer.start({ tls });
    expect(await connectTrusting(tls, server.url)).toBe('connected');
  });

  test('for another host is not', async () => {
    const tls = createCertificate(createProject(), 'DNS:other.example');
    const server = await OddServer.start({ tls });
    expect(await connectTrusting(tls, server.url)).toBe(
      `Server "far" cannot be trusted: the certificate of ${server.origin} is for another host name (ERR_TLS_CERT_ALTNAME_INVALID).`,
    );
    expect(server.requests).toEqual([]);
  });

  test('that has expired is not', async () => {
    const tls = createCertificate(createProject(), 'IP:127.0.0.1', 'expired');
    const server = await OddServer.start({ tls });
    expect(await connectTrusting(tls, server.url)).toBe(
      `Server "far" cannot be trusted: the certificate of ${server.origin} has expired (CERT_HAS_EXPIRED).`,
    );
    expect(server.requests).toEqual([]);
  });
});
