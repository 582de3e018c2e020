import { connect } from 'node:net';
import { join } from 'node:path';
import { GetObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { getSignedUrl } from '@aws-sdk/s3-request-presigner';
import { sign } from 'aws4';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { someRows } from '../../support/some-rows.ts';
import { type Service, startService } from '../service.ts';
import { nmapOf } from './nmap.ts';
import { decoyHere, type PlantedTrap, Plantings } from './planted.ts';

const SDK = join(import.meta.dirname, 'clients/aws-sdk.ts');
const ACCOUNT = '210987654321';

let service: Service;
let plantings: Plantings;
beforeAll(async () => {
  service = await startService({ decoys: [decoyHere('aws')] });
  plantings = new Plantings(service);
});
afterAll(async () => {
  await plantings.close();
  await service.close();
});

const plant = (more = {}) => plantings.plant('aws_key', { options: { account_id: ACCOUNT }, ...more });
const sdk = (trap: PlantedTrap, call: string) =>
  trap.run(process.execPath, [SDK, call], { NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '' });
const endpointOf = ({ content }: PlantedTrap) => new URL(/endpoint_url = (\S+)/.exec(content)?.[1] ?? '');
const wrongSecret = (content: string) => content.replace(/(secret_access_key = ).{8}/, '$1AAAAAAAA');

describe('the SDK that knows the planted file and nothing else', () => {
  const CALLS: readonly [call: string, says: string, expected: object][] = [
    ['get-caller-identity', ACCOUNT, { action: 'sts:GetCallerIdentity', depth: 'validated', severity: 'high' }],
    ['list-buckets', 'AccessDenied', { action: 's3:ListBuckets', depth: 'used', severity: 'critical', service: 's3' }],
    ['bucket-location', 'AccessDenied', { action: 's3:GetBucketLocation', depth: 'used' }],
    ['get-object', 'AccessDenied', { action: 's3:GetObject', depth: 'used' }],
    ['put-object', 'AccessDenied', { action: 's3:PutObject', depth: 'used' }],
  ];
  test.each(CALLS)('%s is told %s, and is one detection', async (call, says, expected) => {
    const trap = await plant();
    expect(await sdk(trap, call)).toContain(says);
    expect(await trap.detections()).toMatchObject([
      {
        channel: 'aws_decoy',
        source_ip: '127.0.0.1',
        user_agent: expect.stringContaining('aws-sdk-js/3'),
        region: 'us-east-1',
        auth_verified: true,
        occurrences: 1,
        ...expected,
      },
    ]);
  });

  test('is told by its identity what its key tells', async () => {
    const trap = await plant();
    const { access_key_id, user_name, user_id } = trap.credential;
    expect(JSON.parse(await sdk(trap, 'get-caller-identity'))).toEqual({
      Account: ACCOUNT,
      Arn: `arn:aws:iam::${ACCOUNT}:user/${user_name}`,
      UserId: user_id,
    });
    expect(user_id).toMatch(/^AIDA[A-Z2-7]{17}$/);
    expect(access_key_id).not.toBe(user_id?.replace('AIDA', 'AKIA').slice(0, 20));
  });

  const WRONG = [
    ['get-caller-identity', 'SignatureDoesNotMatch', 'validated'],
    ['list-buckets', 'SignatureDoesNotMatch', 'used'],
    ['get-object', 'SignatureDoesNotMatch', 'used'],
  ] as const;
  test.each(someRows(WRONG, ([, , depth]) => depth))(
    'with a wrong secret, %s is told %s',
    async (call, says, depth) => {
      const trap = await plant({ change: wrongSecret });
      expect(await sdk(trap, call)).toContain(says);
      expect(await trap.detections()).toMatchObject([
        { depth, auth_verified: false, severity: 'medium', occurrences: 1 },
      ]);
    },
  );

  test('a key that was revoked or rotated away is a detection still', async () => {
    const [revoked, rotated] = [await plant(), await plant()];
    await plantings.act(revoked.id, 'revoke');
    const next = await plantings.act(rotated.id, 'rotate');
    for (const trap of [revoked, rotated]) {
      await sdk(trap, 'list-buckets');
      expect(await trap.detections()).toMatchObject([{ auth_verified: true }]);
    }
    expect(await plantings.detections(next.credential_id)).toEqual([]);
  });
});

test('curl that signs by itself is a detection', async () => {
  const trap = await plant();
  const { access_key_id, secret_access_key } = trap.credential;
  const args = ['-s', '--aws-sigv4', 'aws:amz:eu-west-1:iam', '-u', `${access_key_id}:${secret_access_key}`];
  const said = await trap.run('curl', [...args, '-d', 'Action=ListUsers&Version=2010-05-08', endpointOf(trap).href]);
  expect(said).toContain('is not authorized to perform: iam:ListUsers');
  expect(await trap.detections()).toMatchObject([
    { action: 'iam:ListUsers', region: 'eu-west-1', auth_verified: true, user_agent: expect.stringMatching(/^curl\//) },
  ]);
});

test('a presigned address is a detection of who opens it', async () => {
  const trap = await plant();
  const { access_key_id = '', secret_access_key = '' } = trap.credential;
  const credentials = { accessKeyId: access_key_id, secretAccessKey: secret_access_key };
  const client = new S3Client({
    region: 'us-east-1',
    endpoint: endpointOf(trap).origin,
    credentials,
    forcePathStyle: true,
  });
  const url = await getSignedUrl(client, new GetObjectCommand({ Bucket: 'b', Key: 'a/ä (1).sql' }));
  expect((await fetch(url)).status).toBe(403);
  expect((await fetch(url.replace(/Signature=..../, 'Signature=0000'))).status).toBe(403);
  expect(await trap.detections()).toMatchObject([
    { action: 's3:GetObject', auth_verified: true, occurrences: 2, depth: 'used' },
  ]);
});

/** Requests signed by an independent signer. */
const SIGNED: readonly [words: string, request: object, action: string, says: RegExp][] = [
  [
    'STS in its address',
    { service: 'sts', path: '/?Action=GetCallerIdentity&Version=2011-06-15', signQuery: true },
    'sts:GetCallerIdentity',
    /<Account>210987654321</,
  ],
  [
    'EC2',
    { service: 'ec2', method: 'POST', body: 'Action=DescribeInstances&Version=2016-11-15' },
    'ec2:DescribeInstances',
    /<Code>UnauthorizedOperation</,
  ],
  [
    'Secrets Manager',
    {
      service: 'secretsmanager',
      method: 'POST',
      body: '{}',
      headers: { 'X-Amz-Target': 'secretsmanager.ListSecrets', 'Content-Type': 'application/x-amz-json-1.1' },
    },
    'secretsmanager:ListSecrets',
    /"__type":"AccessDeniedException"/,
  ],
  [
    'Lambda',
    { service: 'lambda', path: '/2015-03-31/functions/?b=2&a=%2F+x&A=' },
    'lambda:GET /2015-03-31/functions/',
    /"Message":"User: arn:aws:iam::210987654321/,
  ],
  [
    'a path with dots',
    { service: 'execute-api', path: '/a/../b//c%20d/' },
    'execute-api:GET /a/../b//c20d/',
    /Message/,
  ],
  [
    'an object with a strange key',
    { service: 's3', path: "/b/a%20b/%C3%A4+~!'()*" },
    's3:GetObject',
    /<Code>AccessDenied</,
  ],
  [
    'a header with spaces',
    { service: 's3', path: '/', headers: { 'X-Amz-Meta-A': '  a   b  ' } },
    's3:ListBuckets',
    /AccessDenied/,
  ],
];
test.each(SIGNED)(
  '%s, signed by aws4, is right, and wrong with another secret',
  async (_words, request, action, says) => {
    const trap = await plant();
    const { access_key_id: accessKeyId = '', secret_access_key = '' } = trap.credential;
    for (const secretAccessKey of [secret_access_key, 'A'.repeat(40)]) {
      const host = endpointOf(trap).host;
      const signed = sign({ region: 'us-east-1', host, path: '/', ...request }, { accessKeyId, secretAccessKey });
      const { status, text } = await send(endpointOf(trap), signed as Signed);
      if (secretAccessKey === secret_access_key) expect(text).toMatch(says);
      else expect([400, 401, 403], `${status}`).toContain(status);
    }
    const [detection] = await trap.detections();
    expect(detection).toMatchObject({ action, auth_verified: true, occurrences: 2 });
  },
);

interface Signed {
  method?: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** Sends a path unchanged; a client would normalize it. */
function send(
  endpoint: URL,
  { method = 'GET', path, headers, body = '' }: Signed,
): Promise<{ status: number; text: string }> {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return exchange(endpoint, `${method} ${path} HTTP/1.1\r\n${lines.join('')}Connection: close\r\n\r\n${body}`);
}

/** Sends bytes, and reads until the server closes the connection. */
function exchange(endpoint: URL, bytes: string): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = connect(Number(endpoint.port), endpoint.hostname, () => socket.write(bytes));
    socket.setEncoding('latin1').on('data', (piece) => {
      text += piece;
      // An empty answer is complete, so do not wait for the server to close.
      if (/\r\nContent-Length: 0\r\n[\s\S]*\r\n\r\n$/.test(text)) socket.end();
    });
    socket.on('error', reject).on('close', () => resolve({ status: Number(text.split(' ')[1]), text }));
  });
}

describe('who has no key of a trap', () => {
  const STRANGERS: readonly [words: string, bytes: (key: string) => string, says: RegExp][] = [
    [
      'asks for nothing',
      () => 'GET / HTTP/1.0\r\n\r\n',
      /^HTTP\/1\.1 307 Temporary Redirect\r\nx-amz-request-id: \w{16}\r\nx-amz-id-2: \S+\r\nDate: [^\r]+ GMT\r\nLocation: https:\/\/aws.amazon.com\/s3\/\r\nContent-Length: 0\r\nConnection: keep-alive\r\nServer: AmazonS3\r\n\r\n$/,
    ],
    [
      'asks for an object',
      () => 'GET /b/o HTTP/1.0\r\n\r\n',
      /^HTTP\/1\.1 403 Forbidden\r\nx-amz-bucket-region: us-east-1\r\nx-amz-request-id: \w{16}\r\nx-amz-id-2: \S+\r\nContent-Type: application\/xml\r\nContent-Length: \d+\r\nDate: [^\r]+\r\nConnection: close\r\nServer: AmazonS3\r\n\r\n<\?xml version="1.0" encoding="UTF-8"\?>\n<Error><Code>AccessDenied<\/Code><Message>Access Denied<\/Message><RequestId>\w{16}<\/RequestId><HostId>[^<]+<\/HostId><\/Error>$/,
    ],
    [
      'says what is no HTTP',
      () => 'EHLO x\r\n\r\n',
      /^HTTP\/1\.1 400 Bad Request\r\nx-amz-request-id[\s\S]*<Code>BadRequest<\/Code><Message>An error occurred when parsing the HTTP request\./,
    ],
    [
      'sends a header without an end',
      () => `GET / HTTP/1.1\r\nA: ${'x'.repeat(20_000)}`,
      /RequestHeaderSectionTooLarge/,
    ],
    [
      'has a key that nobody made',
      () => signedAs('AKIAZZZZZZZZZZZZZZZZ', 's3'),
      /<Code>InvalidAccessKeyId<[\s\S]*<AWSAccessKeyId>AKIAZZZZZZZZZZZZZZZZ</,
    ],
    [
      'asks STS with such a key',
      () => signedAs('AKIAZZZZZZZZZZZZZZZZ', 'sts'),
      /^HTTP\/1\.1 403 Forbidden\r\nx-amzn-RequestId: [0-9a-f-]{36}\r\nContent-Type: text\/xml\r\nContent-Length: \d+\r\nDate: [^\r]+ GMT\r\nConnection: close\r\n\r\n<ErrorResponse xmlns="https:\/\/sts.amazonaws.com\/doc\/2011-06-15\/">\n {2}<Error>\n {4}<Type>Sender<\/Type>\n {4}<Code>InvalidClientTokenId</,
    ],
    ['asks to go through', () => 'CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n', /BadRequest/],
  ];
  test.each(STRANGERS)('and %s leaves nothing', async (_words, bytes, says) => {
    const trap = await plant();
    const { text } = await exchange(endpointOf(trap), bytes(trap.credential['access_key_id'] ?? ''));
    expect(text).toMatch(says);
    expect(text).not.toMatch(/node|evidence|trap|canary|timeout=/i);
    const { body } = await service.call('GET', `//traps/api/v1/detections/?credential_id=${trap.id}`);
    expect(body.data).toEqual([]);
  });

  const signedAs = (key: string, name: string) =>
    `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: AWS4-HMAC-SHA256 Credential=${key}/20260101/us-east-1/${name}/aws4_request, SignedHeaders=host, Signature=00\r\n\r\n`;
});

test('who signs as of an earlier time is told so, and had the secret', async () => {
  const trap = await plant();
  const { access_key_id: accessKeyId = '', secret_access_key: secretAccessKey = '' } = trap.credential;
  const headers = { 'X-Amz-Date': '20200101T000000Z' };
  const request = { service: 's3', region: 'us-east-1', host: endpointOf(trap).host, path: '/', headers };
  const signed = sign(request, { accessKeyId, secretAccessKey }) as Signed;
  expect((await send(endpointOf(trap), signed)).text).toContain('<Code>RequestTimeTooSkewed</Code>');
  expect(await trap.detections()).toMatchObject([{ auth_verified: true }]);
});

test('the older signature of AWS is recognised by its key', async () => {
  const trap = await plant();
  const headers = { Host: 'x', Authorization: `AWS ${trap.credential['access_key_id']}:c2lnbmF0dXJl` };
  expect((await send(endpointOf(trap), { path: '/', headers })).text).toContain('Please use AWS4-HMAC-SHA256');
  expect(await trap.detections()).toMatchObject([{ auth_verified: null }]);
});

test('a fabricated key says in one sentence what nobody sees of it, and its decoy is proved by a use of our own', async () => {
  const trap = await plant();
  expect(await plantings.act(trap.id, 'test')).toMatchObject({
    data: [{ channel: 'aws_decoy', proved: true }, { channel: 'aws_cloudtrail' }, { channel: 'aws_last_used' }],
  });
  expect(await trap.detections()).toEqual([]);
  const { body } = await service.call('GET', `//traps/api/v1/credentials/${trap.id}`);
  const invisible =
    'A use of this fabricated key against the real AWS cannot be detected: AWS does not log requests with credentials that do not exist.';
  expect(body.detection_channels).toMatchObject([
    { channel: 'aws_decoy', active: true, last_proved_at: expect.any(String) },
    { channel: 'aws_cloudtrail', active: false, reason: invisible },
    { channel: 'aws_last_used', active: false, reason: invisible },
  ]);
});

test.each([
  [{ account_id: '171436882533' }, '171436882533 is on public lists'],
  [{ account_id: '12' }, 'twelve digits'],
  [{ user: 'x' }, 'user'],
])('the options %j are refused', async (options, says) => {
  const input = { credential_type: 'aws_key', plant_location: 'ci', label: 'x', options };
  const { status, text } = await service.call('POST', '//traps/api/v1/credentials/generate', input);
  expect([status, text]).toEqual([422, expect.stringContaining(says)]);
});

test('nmap calls it what it pretends to be', async () => {
  const { port } = endpointOf(await plant());
  expect(await nmapOf([port], ['--version-intensity', '2'])).toMatch(/open\s+http\s+Amazon S3 httpd/);
});
