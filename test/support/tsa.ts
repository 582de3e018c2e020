import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { run } from './process.ts';

export interface OpensslAuthority {
  url: string;
  /** PEM file of the root to pin. */
  rootFile: string;
  /** Text form of each query, as `openssl` prints it. */
  queries: string[];
  close(): Promise<void>;
}

/**
 * Starts a real RFC 3161 authority: `openssl ts -reply` behind HTTP. Fills the empty `folder`.
 * @param days validity of the certificates.
 */
export async function startOpensslAuthority(folder: string, days = 30): Promise<OpensslAuthority> {
  await mkdir(folder, { recursive: true });
  const openssl = async (...words: string[]) => run('openssl', words, folder);
  await createCertificates(openssl, folder, String(days));
  const queries: string[] = [];
  // openssl does not lock its serial file, so requests run one at a time.
  let last: Promise<unknown> = Promise.resolve();
  const reply = async (query: Buffer): Promise<Buffer> => {
    await writeFile(join(folder, 'query.tsq'), query);
    queries.push(await openssl('ts', '-query', '-in', 'query.tsq', '-text'));
    await openssl('ts', '-reply', '-config', 'ts.cnf', '-queryfile', 'query.tsq', '-out', 'reply.tsr');
    return readFile(join(folder, 'reply.tsr'));
  };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (request.method !== 'POST' || request.headers['content-type'] !== 'application/timestamp-query') {
      response.writeHead(415).end();
      return;
    }
    const answer = last.then(() => reply(Buffer.concat(chunks)));
    last = answer.catch(() => undefined);
    try {
      const body = await answer;
      response.writeHead(200, { 'content-type': 'application/timestamp-reply' }).end(body);
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    rootFile: join(folder, 'root.pem'),
    queries,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

async function createCertificates(
  openssl: (...words: string[]) => Promise<string>,
  folder: string,
  days: string,
): Promise<void> {
  const newKey = ['genpkey', '-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256', '-out'];
  await openssl(...newKey, 'root.key');
  await openssl(...newKey, 'tsa.key');
  const root = ['-subj', '/CN=Test Root', '-addext', 'basicConstraints=critical,CA:TRUE'];
  await openssl('req', '-x509', '-new', '-key', 'root.key', '-sha256', '-days', days, ...root, '-out', 'root.pem');
  await openssl('req', '-new', '-key', 'tsa.key', '-subj', '/CN=Test Authority', '-out', 'tsa.csr');
  const extensions = ['basicConstraints=critical,CA:FALSE', 'keyUsage=critical,digitalSignature'];
  await writeFile(join(folder, 'tsa.ext'), [...extensions, 'extendedKeyUsage=critical,timeStamping', ''].join('\n'));
  const issue = ['-req', '-in', 'tsa.csr', '-CA', 'root.pem', '-CAkey', 'root.key', '-CAcreateserial'];
  await openssl('x509', ...issue, '-days', days, '-sha256', '-extfile', 'tsa.ext', '-out', 'tsa.pem');
  await writeFile(join(folder, 'serial'), '01\n');
  const settings = [
    ...['[tsa]', 'default_tsa = tsa1', '[tsa1]', `serial = ${folder}/serial`, 'crypto_device = builtin'],
    ...[`signer_cert = ${folder}/tsa.pem`, `certs = ${folder}/root.pem`, `signer_key = ${folder}/tsa.key`],
    ...['signer_digest = sha256', 'default_policy = 1.3.6.1.4.1.99999.1', 'digests = sha256, sha512'],
    ...['accuracy = secs:1', 'clock_precision_digits = 3', 'ess_cert_id_chain = no', 'ess_cert_id_alg = sha256', ''],
  ];
  await writeFile(join(folder, 'ts.cnf'), settings.join('\n'));
}
