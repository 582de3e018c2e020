import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { importCloudTrail } from '../../../src/platform/import/cloudtrail.ts';
import { type EntryService, startEntryService } from '../../support/entry-service.ts';

let service: EntryService;
let folder: string;

beforeEach(async () => {
  service = await startEntryService();
  folder = await mkdtemp(join(tmpdir(), 'import-cloudtrail-'));
});

afterEach(async () => {
  await service.close();
  await rm(folder, { recursive: true });
});

/** A record in the shape that the CloudTrail user guide documents. */
function record(id: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    eventVersion: '1.08',
    userIdentity: { type: 'IAMUser', arn: 'arn:aws:iam::111122223333:user/alice', userName: 'alice' },
    eventTime: '2024-05-01T10:00:00Z',
    eventSource: 'iam.amazonaws.com',
    eventName: 'GetUser',
    awsRegion: 'us-east-1',
    requestParameters: null,
    eventID: id,
    ...more,
  };
}

async function save(name: string, content: string | Buffer): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

function run(...files: string[]) {
  return importCloudTrail({ files, url: service.url, apiKey: service.apiKey });
}

const lines = (...records: unknown[]) => records.map((each) => `${JSON.stringify(each)}\n`).join('');

describe('importCloudTrail', () => {
  it('takes over who did what to what and when, and keeps the rest', async () => {
    const file = await save('one.ndjson', lines(record('e-1', { requestParameters: { userName: 'bob' } })));
    await run(file);
    expect(service.recorded).toEqual([
      {
        stream_id: 'iam.amazonaws.com',
        actor: 'arn:aws:iam::111122223333:user/alice',
        action: 'GetUser',
        resource_type: 'iam',
        resource_id: 'bob',
        metadata: {
          eventVersion: '1.08',
          userIdentity: { type: 'IAMUser', arn: 'arn:aws:iam::111122223333:user/alice', userName: 'alice' },
          awsRegion: 'us-east-1',
          requestParameters: { userName: 'bob' },
          eventID: 'e-1',
          import_key: 'cloudtrail:e-1',
        },
        occurred_at: '2024-05-01T10:00:00Z',
        idempotency_key: 'cloudtrail:e-1',
      },
    ]);
  });

  const two = [record('e-1'), record('e-2', { eventSource: 's3.amazonaws.com' })];
  it.each([
    ['one record a line', lines(...two)],
    ['one record a line, the last without its end', lines(...two).trimEnd()],
    ['one record a line with CRLF and empty lines', lines(...two).replaceAll('\n', '\r\n\r\n')],
    ['a delivered log file', JSON.stringify({ Records: two })],
    ['a delivered log file, indented', JSON.stringify({ Records: two }, null, 2)],
  ])('reads %s, gzip or not, and says how much of which stream', async (_form, content) => {
    for (const bytes of [Buffer.from(content), gzipSync(content)]) {
      service.recorded.length = 0;
      const result = await run(await save('log', bytes));
      expect([...result.streams.keys()]).toEqual(['iam.amazonaws.com', 's3.amazonaws.com']);
      expect(result.created + result.repeated).toBe(2);
    }
  });

  it('records each event once, however often it runs and in however many files it stands', async () => {
    const files = [await save('a', lines(...two)), await save('b', lines(...two))];
    const first = await run(...files);
    expect(first).toMatchObject({ created: 2, repeated: 2 });
    expect(first.streams.get('s3.amazonaws.com')).toEqual({ created: 1, repeated: 1 });
    expect(await run(...files)).toMatchObject({ created: 0, repeated: 4 });
    expect(service.recorded).toHaveLength(2);
  });

  it('keeps the order of a stream over several batches', async () => {
    const ids = Array.from({ length: 2345 }, (_, index) => `e-${index}`);
    await run(await save('many', lines(...ids.map((id) => record(id)))));
    expect(service.batches).toEqual([1000, 1000, 345]);
    expect(service.recorded.map((entry) => entry.metadata['eventID'])).toEqual(ids);
  });

  it('keeps a batch below 8 MiB, and leaves out and counts what alone is larger', async () => {
    const large = (id: string, mebibytes: number) => record(id, { pad: 'é'.repeat(mebibytes * 512 * 1024) });
    const content = JSON.stringify({ Records: [large('a', 3), large('b', 3), large('c', 3), large('d', 9)] });
    const result = await run(await save('large', content));
    expect(service.batches).toEqual([2, 1]);
    expect(result.skipped).toEqual([{ reason: expect.stringContaining('8 MiB'), count: 1 }]);
  });

  it.each([
    [{ type: 'AssumedRole', arn: 'arn:x', principalId: 'P', invokedBy: 'ec2.amazonaws.com' }, 'arn:x'],
    [{ type: 'AWSService', invokedBy: 'ec2.amazonaws.com' }, 'ec2.amazonaws.com'],
    [{ type: 'AWSAccount', principalId: 'AIDA', accountId: '1' }, 'AIDA'],
    [{ type: 'IAMUser', userName: 'alice' }, 'alice'],
    [{ type: 'Unknown' }, 'Unknown'],
    [null, '-'],
  ])('names the actor of %j', async (userIdentity, actor) => {
    await run(await save('actor', lines(record('e', { userIdentity }))));
    expect(service.recorded[0]?.actor).toBe(actor);
  });

  const arn = 'arn:aws:s3:::bucket';
  it.each([
    [{ resources: [{ type: 'AWS::S3::Bucket', ARN: arn }] }, 'AWS::S3::Bucket', arn],
    [{ resources: [{ accountId: '1' }, { ARN: arn }] }, 'iam', arn],
    [{ eventName: 'PutRolePolicy', requestParameters: { policyName: 'p', roleName: 'r' } }, 'iam', 'r'],
    [{ eventName: 'ListThings', requestParameters: { maxId: 'm', name: 'n' } }, 'iam', 'n'],
    [{ eventName: 'Run', requestParameters: { clientToken: 't', keyId: 'k', tier: 'x' } }, 'iam', 'k'],
    [
      { eventName: 'StopInstances', requestParameters: { instancesSet: { items: [{ instanceId: 'i-1' }] } } },
      'iam',
      'i-1',
    ],
    [{ eventName: 'DescribeVpcs', requestParameters: { filterSet: { items: [{ name: 'vpc-id' }] } } }, 'iam', '-'],
    [{ requestParameters: null }, 'iam', '-'],
  ])('names the resource of %j', async (more, type, id) => {
    await run(await save('resource', lines(record('e', more))));
    expect(service.recorded[0]).toMatchObject({ resource_type: type, resource_id: id });
  });

  it('keeps as text, and counts, each number that a double would change', async () => {
    const json =
      '{"big":9007199254740993,"edge":9007199254740991,"negative":-9007199254740993,"beyond":1e999,"half":0.5}';
    const line = JSON.stringify(record('e', { responseElements: 'HERE' })).replace('"HERE"', json);
    const result = await run(await save('numbers', line));
    expect(service.recorded[0]?.metadata['responseElements']).toEqual({
      big: '9007199254740993',
      edge: 9007199254740991,
      negative: '-9007199254740993',
      beyond: '1e999',
      half: 0.5,
    });
    expect(result.notes).toEqual([expect.stringMatching(/^3 numbers/)]);
  });

  it('repairs and counts half a surrogate pair, cuts a long field and keeps it whole in the metadata', async () => {
    const userName = `${'x'.repeat(1022)}🔐🔐`;
    const line = lines(record('e', { userIdentity: { userName }, errorMessage: 'HERE' })).replace('HERE', '\\ud800');
    const result = await run(await save('text', line));
    expect(service.recorded[0]?.actor).toBe(`${'x'.repeat(1022)}…`);
    expect(service.recorded[0]?.metadata).toMatchObject({ userIdentity: { userName }, errorMessage: '\uFFFD' });
    expect(result.notes).toEqual([expect.stringMatching(/^1 texts/)]);
  });

  it('leaves out and counts Insights events', async () => {
    const insight = { eventType: 'AwsCloudTrailInsight', eventID: 'i', insightDetails: { state: 'Start' } };
    const result = await run(await save('insight', lines(insight, record('e'))));
    expect(result.created).toBe(1);
    expect(result.skipped).toEqual([{ reason: expect.stringContaining('Insights'), count: 1 }]);
  });

  it.each([
    ['not JSON', '{"eventVersion', /line 3 of .*bad is not JSON.* 2 entries were recorded/],
    ['JSON of something else', '{"a":1}', /line 3 of .*bad is not a CloudTrail record.*eventID/],
    ['a record without a usable time', JSON.stringify(record('e', { eventTime: 'noon' })), /line 3 of .*eventTime/],
  ])('stops at a line that is %s, names it, and keeps what came before', async (_what, bad, message) => {
    const file = await save('bad', `${lines(...two)}${bad}\n${lines(record('e-4'))}`);
    await expect(run(file)).rejects.toMatchObject({ code: 'unreadable', message: expect.stringMatching(message) });
    expect(service.recorded.map((entry) => entry.metadata['eventID'])).toEqual(['e-1', 'e-2']);
    expect(await run(await save('bad', lines(...two, record('e-4'))))).toMatchObject({ created: 1, repeated: 2 });
  });

  it.each([
    ['a cut-off gzip file', gzipSync(lines(...two)).subarray(0, 60), /cannot be read/],
    ['a log file cut off', JSON.stringify({ Records: two }).slice(0, -5), /is not JSON/],
    ['a line without end', `{"eventVersion":"${'x'.repeat(5 * 1024 * 1024)}`, /line 1 .* longer than/],
  ])('refuses %s, naming the file', async (_what, content, message) => {
    const file = await save('broken', content);
    const error: unknown = await run(file).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'unreadable', message: expect.stringMatching(message) });
    expect(error).toMatchObject({ message: expect.stringContaining(file) });
  });

  it('says which file does not exist', async () => {
    const missing = join(folder, 'missing.gz');
    await expect(run(missing)).rejects.toMatchObject({ code: 'not-found', message: expect.stringContaining(missing) });
  });
});
