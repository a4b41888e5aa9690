// Creates self-signed certificates for untrusted servers.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Project } from './project.ts';

export interface Certificate {
  readonly key: string;
  readonly cert: string;
  readonly certFile: string;
}

/** `host` is a subject alternative name: `IP:127.0.0.1`, `DNS:example.org`. */
export function createCertificate(
  project: Project,
  host: string,
  until: 'valid' | 'expired' = 'valid',
): Certificate {
  const [key, request, cert] = ['key.pem', 'request.pem', 'cert.pem'].map((name) =>
    join(project.dir, name),
  ) as [string, string, string];
  project.write('index.txt', '');
  const config = project.write(
    'ca.cnf',
    [
      '[ca]\ndefault_ca = own',
      `[own]\ndatabase = ${join(project.dir, 'index.txt')}\nnew_certs_dir = ${project.dir}`,
      'rand_serial = yes\ndefault_md = sha256\npolicy = any\nunique_subject = no\nx509_extensions = ext',
      '[any]\ncommonName = supplied',
      `[ext]\nsubjectAltName = ${host}\nbasicConstraints = CA:TRUE`,
      '[req]\ndistinguished_name = name\n[name]',
    ].join('\n'),
  );
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { stdio: 'pipe' });
  };
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  openssl(
    'req',
    '-config',
    config,
    '-new',
    ...curve,
    '-nodes',
    '-keyout',
    key,
    '-out',
    request,
    '-subj',
    '/CN=test',
  );
  const end = until === 'valid' ? '20990101000000Z' : '20200101000000Z';
  openssl(
    'ca',
    '-config',
    config,
    '-batch',
    '-selfsign',
    '-keyfile',
    key,
    '-in',
    request,
    '-out',
    cert,
    '-notext',
    '-startdate',
    '20190101000000Z',
    '-enddate',
    end,
  );
  return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8'), certFile: cert };
}

export function hasOpenssl(): boolean {
  try {
    execFileSync('openssl', ['version'], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
}
