import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Certificates {
  ca: string;
  /** Certificate of `audit.test` and 127.0.0.1. */
  server: { cert: string; key: string };
  client: { cert: string; key: string };
}

/** Creates an authority with openssl, and certificates for a server and a client. */
export function makeCertificates(): Certificates {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  const openssl = (...words: string[]) => execFileSync('openssl', words, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const authority = ['-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign'];
  openssl(
    'req',
    '-x509',
    ...key,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-subj',
    '/CN=Test CA',
    '-days',
    '2',
    ...authority,
  );
  const issue = (name: string, extension: string) => {
    writeFileSync(join(folder, `${name}.ext`), extension);
    openssl('req', '-new', ...key, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
    const by = ['-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '2', '-extfile', `${name}.ext`];
    openssl('x509', '-req', '-in', `${name}.csr`, ...by, '-out', `${name}.pem`);
    return { cert: read(`${name}.pem`), key: read(`${name}.key`) };
  };
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return {
    ca: read('ca.pem'),
    server: issue('server', 'subjectAltName=DNS:audit.test,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n'),
    client: issue('client', 'extendedKeyUsage=clientAuth\n'),
  };
}
