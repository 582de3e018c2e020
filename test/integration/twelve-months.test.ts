import { chmodSync, cpSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addMonths, lastEndedMonth } from '../../src/verifier/records/months.ts';
import { contentOf, versionsIn } from '../support/bucket.ts';
import { entryAfter, type SentEntry } from '../support/chain.ts';
import { evidence } from '../support/evidence.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { adminClient, makeBucket, type Radosgw, useRadosgw } from '../support/radosgw.ts';

const MONTHS = Array.from({ length: 12 }, (_, n) => addMonths(lastEndedMonth(new Date()), n - 11));
const OLD = MONTHS[2] ?? '';
const STREAMS = ['payments', 'logins', 'deploys'];

let service: FalseService;
let gateway: Radosgw;
beforeAll(async () => {
  [service, gateway] = await Promise.all([startFalseService(), useRadosgw()]);
  for (const id of STREAMS) service.streams.set(id, { entries: entriesOf(id) });
});
afterAll(() => service.close());

function entriesOf(stream_id: string): SentEntry[] {
  const entries: SentEntry[] = [];
  for (const month of MONTHS)
    for (const day of ['03', '11', '27'])
      entries.push(entryAfter(entries.at(-1) ?? null, { stream_id, timestamp: `${month}-${day}T12:00:00.000Z` }));
  return entries;
}

interface Place {
  cwd: string;
  env: Record<string, string>;
}

/** Exports and signs one month after another, each with a separate command. */
async function exportMonths(
  months: readonly string[],
  archive: object,
  env: Record<string, string> = {},
): Promise<Place> {
  const cwd = mkdtempSync(join(tmpdir(), 'twelve-months-'));
  const place = { cwd, env: { ...env, EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_this_test' } };
  expect((await evidence(['keygen', '--out', 'signing.pem'], place)).code).toBe(0);
  writeFileSync(join(cwd, 'evidence.yaml'), JSON.stringify({ archive, sign: { key_file: 'signing.pem' } }));
  for (const month of months) {
    const { code, stderr } = await evidence(['export', '--period', month], place);
    expect(code, `${month}: ${stderr}`).toBe(0);
  }
  return place;
}

async function verified({ cwd, env }: Place) {
  const words = ['verify', '--config', 'evidence.yaml', '--public-key', 'signing.pem.pub', '--json'];
  const { code, stdout, stderr } = await evidence(words, { cwd, env });
  return { code, stderr, stdout, document: JSON.parse(stdout) };
}

/** Objects of the old month, and its ledger entry, by patterns of their keys. */
const OBJECTS: Record<string, RegExp> = {
  'a bundle': new RegExp(`runs/${OLD}/streams/payments-[0-9a-f]{8}\\.zip$`),
  'the record of a stream': new RegExp(`runs/${OLD}/streams/payments-[0-9a-f]{8}\\.json$`),
  'the record of the run': new RegExp(`runs/${OLD}/run\\.json$`),
  'its signed statement': new RegExp(`runs/${OLD}/run\\.dsse\\.json$`),
  'its draft': new RegExp(`runs/${OLD}/run-draft\\.json$`),
  'what was asked for': new RegExp(`runs/${OLD}/asked\\.json$`),
  'its report': new RegExp(`runs/${OLD}/report\\.pdf$`),
  'its report in HTML': new RegExp(`runs/${OLD}/report\\.html$`),
  'its table': new RegExp(`runs/${OLD}/index\\.csv$`),
  'its entry in the ledger': /ledger\/00000003\.json$/,
};

/** Objects to alter in S3 too; the others use the same code. */
const IN_S3 = new Set(['a bundle', 'the record of the run', 'its entry in the ledger']);

/** Flips one bit in the middle. */
function altered(content: Buffer): Buffer {
  const copy = Buffer.from(content);
  const middle = Math.floor(copy.length / 2);
  copy[middle] = (copy[middle] ?? 0) ^ 1;
  return copy;
}

describe('twelve months, exported one after the other into a folder', () => {
  let year: Place;
  beforeAll(async () => {
    year = await exportMonths(MONTHS, { url: './evidence-archive' });
  });

  test('are verified, each with all of its streams', async () => {
    const { code, document, stderr } = await verified(year);
    expect(code, stderr).toBe(0);
    expect(
      document.runs.map(({ run_id, outcome, streams }: { run_id: string; outcome: string; streams: object[] }) => [
        run_id,
        outcome,
        streams.length,
      ]),
    ).toEqual(MONTHS.map((month) => [month, 'verified', STREAMS.length]));
  });

  test.each(Object.entries(OBJECTS))('one bit of an old object altered: %s', async (_name, pattern) => {
    const cwd = mkdtempSync(join(tmpdir(), 'twelve-months-'));
    cpSync(year.cwd, cwd, { recursive: true });
    const archive = join(cwd, 'evidence-archive');
    const keys = readdirSync(archive, { recursive: true, encoding: 'utf8' }).filter((key) => pattern.test(key));
    expect(keys).toHaveLength(1);
    const file = join(archive, keys[0] ?? '');
    const content = readFileSync(file);
    chmodSync(file, 0o600);
    writeFileSync(file, altered(content));
    const { code, stdout } = await verified({ ...year, cwd });
    expect(code).toBe(1);
    expect(stdout).toContain(keys[0]);
  });
});

/** Months up to the altered one, and one more. */
const FIRST = MONTHS.slice(0, 4);

describe('months in S3', () => {
  let year: Place;
  let client: S3Client;
  let bucket: string;
  beforeAll(async () => {
    bucket = await makeBucket(gateway, 'plain');
    client = adminClient(gateway);
    year = await exportMonths(FIRST, { url: `s3://${bucket}/prod`, endpoint: gateway.endpoint }, gateway.env);
  });
  afterAll(() => client.destroy());

  test('are verified', async () => {
    const { code, document, stderr } = await verified(year);
    expect(code, stderr).toBe(0);
    expect(document.runs).toHaveLength(FIRST.length);
  });

  test.each(Object.entries(OBJECTS).filter(([name]) => IN_S3.has(name)))(
    'one bit of an old object altered: %s',
    async (_name, pattern) => {
      const found = (await versionsIn(client, bucket)).filter(({ Key = '' }) => pattern.test(Key));
      expect(found).toHaveLength(1);
      const [version = {}] = found;
      const content = await contentOf(client, bucket, version);
      const put = (Body: Buffer) => client.send(new PutObjectCommand({ Bucket: bucket, Key: version.Key, Body }));
      await put(altered(content));
      const { code, stdout } = await verified(year);
      // Restore the object for the next test.
      await put(content);
      expect(code).toBe(1);
      expect(stdout).toContain(version.Key?.replace('prod/', ''));
    },
  );
});
