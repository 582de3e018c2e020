import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { newAwsId } from '../../../src/platform/traps/aws/access-key.ts';
import { readTrail } from '../../../src/platform/traps/aws/trail-records.ts';
import { SERVICES, type Service } from '../service.ts';
import { logFile, trailEvent } from './trail-events.ts';

const REPORT = '//traps/api/v1/events/cloudtrail';

/** https://docs.aws.amazon.com/sns/latest/dg/http-notification-json.html */
function sns(Message: string): string {
  const ids = { MessageId: randomUUID(), TopicArn: 'arn:aws:sns:eu-west-1:111122223333:trail' };
  return JSON.stringify({ Type: 'Notification', ...ids, Message, Timestamp: '2026-11-20T10:00:00Z', Signature: 'x' });
}

test.each([
  ['as it is sent', { sent: 10_000, unpacked: 10 ** 9 }],
  ['once it is unpacked', { sent: 10 ** 9, unpacked: 100_000 }],
])('a log file that is too large %s is refused', async (_words, limits) => {
  const pieces = Readable.from(gzipSync(logFile(1000)).subarray());
  const read = async () => {
    for await (const _ of readTrail(pieces, limits));
  };
  await expect(read()).rejects.toMatchObject({ status: 413, code: 'too_large' });
});

describe.each(SERVICES)('on %s', (_name, start) => {
  let service: Service;
  let keyId: string;
  let credentialId: string;
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.close());
  beforeEach(async () => {
    keyId = newAwsId('AKIA', '111122223333');
    const { status, text, body } = await importKey();
    expect(status, text).toBe(201);
    credentialId = body.credential_id;
  });

  const importKey = (more = {}) =>
    service.call('POST', '//traps/api/v1/credentials/import', {
      plant_location: 'github',
      label: 'a real key',
      access_key_id: keyId,
      ...more,
    });
  const detections = async () =>
    (await service.call('GET', `//traps/api/v1/detections/?credential_id=${credentialId}`)).body.data;
  /** Sends bytes unchanged. */
  const report = async (body: string | Uint8Array, headers: Record<string, string> = {}) => {
    const response = await fetch(service.origin + REPORT.slice(1), {
      method: 'POST',
      headers: { authorization: `Bearer ${service.apiKey}`, 'content-type': 'application/json', ...headers },
      body,
    });
    return { status: response.status, body: JSON.parse(await response.text()) };
  };

  test('an imported key is found among thousands of events, each once however often it comes', async () => {
    const uses = [
      trailEvent(keyId, { eventSource: 'sts.amazonaws.com', eventName: 'GetCallerIdentity', errorCode: undefined }),
      trailEvent(keyId, { eventTime: '2026-11-20T10:00:03Z' }),
    ];
    const packed = gzipSync(logFile(2900, ...uses));
    expect(await report(packed, { 'content-type': 'application/gzip' })).toEqual({
      status: 200,
      body: { events: 2902, matched: 2, known: 0 },
    });
    expect((await report(packed, { 'content-encoding': 'gzip' })).body).toEqual({ events: 2902, matched: 2, known: 2 });
    expect(await detections()).toMatchObject([
      {
        channel: 'aws_cloudtrail',
        depth: 'used',
        auth_verified: true,
        occurrences: 2,
        severity: 'critical',
        source_ip: '198.51.100.7',
        user_agent: '[aws-cli/2.17.0 md/awscrt#0.20.11]',
        region: 'eu-central-1',
        action: 's3:ListBuckets',
        event_time: '2026-11-20T10:00:00.000Z',
        last_seen: '2026-11-20T10:00:03.000Z',
      },
    ]);
  });

  const FORMS: readonly [words: string, body: (event: object) => string][] = [
    ['a log file that is written on many lines', (event) => JSON.stringify({ Records: [event] }, null, 2)],
    [
      'an event as EventBridge passes it on',
      (event) => JSON.stringify({ version: '0', 'detail-type': 'x', detail: event }),
    ],
    [
      'an event of EventBridge as SNS delivers it',
      (event) => sns(JSON.stringify({ version: '0', 'detail-type': 'x', detail: event })),
    ],
    ['a log file as SNS delivers it', (event) => sns(JSON.stringify({ Records: [event] }))],
  ];
  test.each(FORMS)('%s is read', async (_words, form) => {
    expect((await report(form(trailEvent(keyId)))).body).toEqual({ events: 1, matched: 1, known: 0 });
    expect(await detections()).toHaveLength(1);
  });

  const EVENTS: readonly [words: string, event: object, expected: object][] = [
    [
      'by a service of AWS',
      { sourceIPAddress: 'athena.amazonaws.com', userAgent: 'athena.amazonaws.com' },
      { source_ip: null, user_agent: 'athena.amazonaws.com' },
    ],
    ['with a wrong secret', { errorCode: 'SignatureDoesNotMatch' }, { auth_verified: false, severity: 'medium' }],
    [
      'with nothing but its key',
      { eventTime: 7, eventID: null, eventSource: undefined, eventName: null, awsRegion: [], sourceIPAddress: {} },
      { action: null, region: null, source_ip: null, depth: 'used' },
    ],
  ];
  test.each(EVENTS)('an event %s is a use', async (_words, event, expected) => {
    expect((await report(logFile(1, trailEvent(keyId, { ...event })))).body.matched).toBe(1);
    expect(await detections()).toMatchObject([expected]);
  });

  test('a key that was rotated away or revoked is found still', async () => {
    await service.call('POST', `//traps/api/v1/credentials/${credentialId}/revoke`);
    expect((await report(logFile(0, trailEvent(keyId)))).body.matched).toBe(1);
    expect(await detections()).toHaveLength(1);
  });

  test('the channel says since when events come', async () => {
    await report(logFile(0, trailEvent(keyId)));
    const { body } = await service.call('GET', `//traps/api/v1/credentials/${credentialId}`);
    expect(body.detection_channels).toMatchObject([
      { channel: 'aws_decoy', active: false },
      { channel: 'aws_cloudtrail', active: true, reason: expect.stringContaining('are arriving') },
      { channel: 'aws_last_used', active: false, reason: expect.stringContaining('no aws') },
    ]);
  });

  test('a key is imported once', async () => {
    const again = await importKey();
    expect(again).toMatchObject({ status: 409, body: { detail: `${keyId} is already a trap` } });
  });

  test('a key of an account that scanners know as one of traps is refused', async () => {
    expect(await importKey({ access_key_id: 'AKIASP2TPHJSQH3FJRUX' })).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('171436882533') },
    });
  });

  const REFUSED: readonly [words: string, status: number, body: () => string | Uint8Array][] = [
    ['nothing', 400, () => ''],
    ['no JSON', 400, () => 'Records'],
    ['a message of SNS that is no JSON', 400, () => sns('Records')],
    ['the confirmation of a subscription', 400, () => JSON.stringify({ Type: 'SubscriptionConfirmation' })],
    ['files of a bucket that no setting names', 409, () => sns(JSON.stringify({ s3Bucket: 'b', s3ObjectKey: ['k'] }))],
    ['JSON of something else', 400, () => '{"a":1}'],
    ['a log file that is cut off', 400, () => logFile(20).slice(0, -30)],
    ['gzip that is cut off', 400, () => gzipSync(logFile(2000)).subarray(0, 3000)],
    [
      'an event of five megabytes',
      400,
      () => logFile(1, trailEvent('x', { requestParameters: 'x'.repeat(5 * 2 ** 20) })),
    ],
  ];
  test.each(REFUSED)('%s is refused with %i', async (_words, status, body) => {
    expect((await report(body())).status).toBe(status);
  });
});
