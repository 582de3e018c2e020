import { X509Certificate } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type Service, startService } from '../service.ts';
import { nmapOf } from './nmap.ts';
import { decoyHere, type PlantedTrap, Plantings } from './planted.ts';

let service: Service;
let plantings: Plantings;
beforeAll(async () => {
  service = await startService({ decoys: [decoyHere('kubernetes'), decoyHere('kubernetes', { name: 'other' })] });
  plantings = new Plantings(service);
});
afterAll(async () => {
  await plantings.close();
  await service.close();
});

const AUTHS = ['token', 'certificate'] as const;
const plant = (auth: string) => plantings.plant('kubeconfig', { options: { auth } });

/** Parses the kubeconfig and writes its PEM parts beside it. */
async function opened({ content, home }: PlantedTrap) {
  const file = parse(content);
  const [{ cluster }, { user }] = [file.clusters[0], file.users[0]];
  const ca = Buffer.from(cluster['certificate-authority-data'], 'base64').toString();
  await writeFile(join(home, 'ca.pem'), ca);
  const parts = ['client-certificate-data', 'client-key-data'].map((name) => user[name]);
  if (user.token === undefined)
    await writeFile(join(home, 'client.pem'), parts.map((part) => Buffer.from(part, 'base64').toString()).join(''));
  const shows = user.token === undefined ? ['--cert', 'client.pem'] : ['-H', `Authorization: Bearer ${user.token}`];
  return { url: new URL(cluster.server), ca, user, shows: ['-s', '--cacert', 'ca.pem', ...shows] };
}

/** Selects kubectl's detections: some packages' kubectl first asks for the version with another program. */
const byKubectl = async (trap: PlantedTrap) =>
  (await trap.detections()).filter((each) => each.user_agent.startsWith('kubectl/'));

describe.each(AUTHS)('a kubeconfig with a %s', (auth) => {
  test('is one detection when kubectl works with it, however many requests that takes', async () => {
    const trap = await plant(auth);
    const said = await trap.run('kubectl', ['get', 'pods']);
    const { user } = trap.credential;
    expect(said).toContain(
      `Error from server (Forbidden): pods is forbidden: User "${user}" cannot list resource "pods" in API group "" in the namespace "default"`,
    );
    const [detection, ...others] = await byKubectl(trap);
    expect(others).toEqual([]);
    expect(detection).toMatchObject({
      channel: 'kubernetes',
      depth: 'used',
      action: 'list pods in default',
      auth_verified: true,
      source_ip: '127.0.0.1',
      user_agent: expect.stringMatching(/^kubectl\/v1\./),
      service: 'kubernetes',
    });
    expect(detection.occurrences).toBeGreaterThan(1);
  });

  test('is a detection when curl shows it, over either HTTP', async () => {
    const trap = await plant(auth);
    const { url, shows } = await opened(trap);
    for (const version of ['--http1.1', '--http2'])
      expect(
        await trap.run('curl', [...shows, version, `${url.origin}/api/v1/namespaces/kube-system/secrets/x`]),
      ).toContain(
        `"message": "secrets \\"x\\" is forbidden: User \\"${trap.credential['user']}\\" cannot get resource \\"secrets\\" in API group \\"\\" in the namespace \\"kube-system\\""`,
      );
    expect(await trap.detections()).toMatchObject([{ action: 'get secrets/x in kube-system', occurrences: 2 }]);
  });

  test('tells who asks who they are, and what they may', async () => {
    const trap = await plant(auth);
    expect(await trap.run('kubectl', ['auth', 'can-i', 'list', 'secrets'])).toMatch(/^no\b/m);
    expect(await trap.run('kubectl', ['auth', 'can-i', '--list'])).toContain(
      'selfsubjectaccessreviews.authorization.k8s.io',
    );
    expect(await byKubectl(trap)).toMatchObject([{ depth: 'validated' }]);
  });

  test('is proved by a use of our own, which nobody is told of', async () => {
    const trap = await plant(auth);
    expect(await plantings.act(trap.id, 'test')).toMatchObject({ data: [{ channel: 'kubernetes', proved: true }] });
    expect(await trap.detections()).toEqual([]);
  });

  test('is a detection still when it was revoked or rotated away', async () => {
    const [revoked, rotated] = [await plant(auth), await plant(auth)];
    await plantings.act(revoked.id, 'revoke');
    await plantings.act(rotated.id, 'rotate');
    for (const trap of [revoked, rotated]) {
      const { url, shows } = await opened(trap);
      await trap.run('curl', [...shows, `${url.origin}/version`]);
      expect(await trap.detections()).toMatchObject([{ depth: 'validated', action: 'get /version' }]);
    }
  });
});

test('who shows a token that nobody made is unknown, and leaves nothing', async () => {
  const trap = await plant('token');
  const { url } = await opened(trap);
  const args = ['-si', '--http1.1', '--cacert', 'ca.pem', '-H', 'Authorization: Bearer x', `${url.origin}/api`];
  expect(await trap.run('curl', args)).toMatch(
    /^HTTP\/1\.1 401 Unauthorized\r\nAudit-Id: [0-9a-f-]{36}\r\nCache-Control: no-cache, private\r\nContent-Type: application\/json\r\nDate: [^\r]+ GMT\r\nContent-Length: 157\r\n\r\n\{\n {2}"kind": "Status",\n {2}"apiVersion": "v1",\n {2}"metadata": \{\},\n {2}"status": "Failure",\n {2}"message": "Unauthorized",\n {2}"reason": "Unauthorized",\n {2}"code": 401\n\}$/,
  );
  expect(await trap.detections()).toEqual([]);
});

test('who shows nothing is anonymous', async () => {
  const trap = await plant('token');
  const { url } = await opened(trap);
  const said = await trap.run('curl', ['-si', '--http1.1', '--cacert', 'ca.pem', `${url.origin}/`]);
  expect(said).toMatch(
    /^HTTP\/1\.1 403 Forbidden\r\nAudit-Id: [0-9a-f-]{36}\r\nCache-Control: no-cache, private\r\nContent-Type: application\/json\r\nX-Content-Type-Options: nosniff\r\nX-Kubernetes-Pf-Flowschema-Uid: [0-9a-f-]{36}\r\nX-Kubernetes-Pf-Prioritylevel-Uid: [0-9a-f-]{36}\r\nDate: [^\r]+ GMT\r\nContent-Length: \d+\r\n\r\n/,
  );
  const old = await answerTo(url, 'GET / HTTP/1.0\r\n\r\n');
  expect(old).toMatch(/^HTTP\/1\.0 403 Forbidden\r\nAudit-Id: [\s\S]+\r\nContent-Length: \d+\r\n\r\n\{"kind"/);
  expect(said).toContain('"message": "forbidden: User \\"system:anonymous\\" cannot get path \\"/\\""');
  expect(await trap.run('curl', ['-s', '--cacert', 'ca.pem', `${url.origin}/version`])).toContain(
    '"gitVersion": "v1.30.0"',
  );
});

/** Sends bytes over TLS, and returns the answer once the server closes the connection. */
function answerTo({ hostname, port }: URL, bytes: string): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const socket = connectTls({ host: hostname, port: Number(port), rejectUnauthorized: false });
    socket.on('data', (piece) => (text += piece.toString('latin1'))).on('close', () => resolve(text));
    socket.write(bytes, 'latin1');
  });
}

const refused = (said: string) =>
  `HTTP/1.1 ${said}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n${said}`;
/** Answers of a net/http server in Go to the same bytes. */
const REFUSED: readonly [bytes: string, says: string][] = [
  ['\r\n\r\n', refused('400 Bad Request')],
  ['HELP\r\n', refused('400 Bad Request')],
  ['\0\x01abc\n', refused('400 Bad Request')],
  ['OPTIONS / RTSP/1.0\r\n\r\n', refused('400 Bad Request')],
  ['GET /\r\n\r\n', refused('400 Bad Request')],
  ['GET / HTTP/3\r\n\r\n', refused('400 Bad Request')],
  ['G(T / HTTP/1.1\r\nHost: x\r\n\r\n', refused('400 Bad Request')],
  ['GET foo HTTP/1.1\r\nHost: x\r\n\r\n', refused('400 Bad Request')],
  ['GET / HTTP/1.1\r\nHost: x\r\nNoColon\r\n\r\n', refused('400 Bad Request')],
  ['GET / HTTP/1.1\r\n\r\n', refused('400 Bad Request: missing required Host header')],
  ['GET / HTTP/1.1\r\nHost: a b\r\n\r\n', refused('400 Bad Request: malformed Host header')],
  ['GET / HTTP/1.1\r\nHost: x\r\nA b: c\r\n\r\n', refused('400 Bad Request: invalid header name')],
  ['GET / HTTP/2.0\r\n\r\n', refused('505 HTTP Version Not Supported: unsupported protocol version')],
  [`GET / HTTP/1.1\r\nA: ${'x'.repeat(70_000)}`, refused('431 Request Header Fields Too Large')],
];
test.each(REFUSED)('%j over TLS is refused as a server written in Go refuses it', async (bytes, says) => {
  const { url } = await opened(await plant('token'));
  expect(await answerTo(url, bytes)).toBe(says);
});

test('nmap calls it a server written in Go, as it calls that of Kubernetes', async () => {
  const trap = await plant('token');
  const { url } = await opened(trap);
  // nmap up to 7.93 knows only the answers of earlier versions of Go; later ones know both.
  const since = (probes: string) =>
    probes.replace(/text\/plain(?=\\r.*Golang net\/http server)/, '$&(?:; charset=utf-8)?');
  expect(await nmapOf([url.port], ['--version-intensity', '1'], since)).toMatch(
    /open\s+ssl\/http\s+Golang net\/http server/,
  );
});

const BYTES: readonly [words: string, bytes: string, says: string][] = [
  [
    'HTTP',
    'GET / HTTP/1.0\r\n\r\n',
    'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
  ],
  ['what is neither TLS nor HTTP', 'SSH-2.0-x\r\n', ''],
  ['what begins as TLS and is none', '\x16\x03\x01\x00\x05hello', '\x15\x03'],
];
test.each(BYTES)('to %s it says what a server written in Go says', async (_words, bytes, says) => {
  const { url } = await opened(await plant('token'));
  const heard = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(Number(url.port), url.hostname, () => socket.write(Buffer.from(bytes, 'latin1')));
    socket.on('data', (piece) => (text += piece.toString('latin1'))).on('error', () => {});
    socket.on('close', () => resolve(text));
  });
  expect(says === '' ? heard : heard.slice(0, says.length)).toBe(says);
});

test('its certificates are those of a cluster, and no two clusters have anything in common', async () => {
  const [one, other] = [
    await plant('certificate'),
    await plantings.plant('kubeconfig', { options: { auth: 'certificate' }, decoy: 'other' }),
  ];
  const found = [];
  for (const trap of [one, other]) {
    const { url, ca } = await opened(trap);
    const args = ['s_client', '-connect', url.host, '-CAfile', 'ca.pem', '-cert', 'client.pem'];
    const said = await trap.run('openssl', args);
    expect(said).toContain('Acceptable client certificate CA names\nCN = kubernetes');
    expect(said).toContain('Verify return code: 0 (ok)');
    expect(said).toMatch(/subject=CN = kube-apiserver\nissuer=CN = kubernetes/);
    const client = new X509Certificate(trap.credential['certificate'] ?? '');
    expect(client.verify(new X509Certificate(ca).publicKey)).toBe(true);
    expect(client.subject).toContain(`CN=${trap.credential['user']}`);
    found.push({ ca, key: trap.credential['key'], certificate: trap.credential['certificate'], host: url.host });
  }
  for (const name of ['ca', 'key', 'certificate', 'host'] as const) expect(found[0]?.[name]).not.toBe(found[1]?.[name]);
});
