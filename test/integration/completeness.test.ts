import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { COUNTED, costIn } from '../support/cost.ts';
import { evidence } from '../support/evidence.ts';
import { type Lie, lieAbout } from '../support/lying-service.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from '../support/platform.ts';
import { evidenceProcess } from '../support/process.ts';
import { someRows } from '../support/some-rows.ts';

/** Length of a stream whose listing and record are falsified in transit. */
const [ENTRIES = 0] = someRows([12_000, 100_000], () => 'entries').slice(-1);
const CHANGED = ENTRIES * 0.7 + 1;
/** Bound well above the garbage of a busy machine (282 seen), and below the memory for a listing's entries. */
const LIMIT_MB = 350;
let platform: ServedPlatform;
let directory: string;

beforeAll(async () => {
  platform = await servePlatform();
  await postEntries(platform, [...someEntries('many', ENTRIES), ...someEntries('few', 20)]);
});
afterAll(() => platform.stop());
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'completeness-test-'));
});

/**
 * @returns the export's result for the stream; for the large stream also the peak memory, measured in a separate
 * process.
 */
async function exportStream(stream: 'many' | 'few', lie: Lie) {
  const liar = await lieAbout(platform.auditUrl, lie);
  const words = ['export', '--all-time', '--stream', stream, '--json'];
  const options = { cwd: directory, env: { ...platform.env, EVIDENCE_AUDIT_URL: liar.auditUrl } };
  try {
    const isLarge = stream === 'many';
    const { code, stdout, stderr } = isLarge
      ? await evidenceProcess(words, { ...options, nodeFlags: COUNTED })
      : await evidence(words, options);
    const [{ claims, findings, status }] = JSON.parse(stdout).streams;
    const peak = isLarge ? costIn(stderr).memory : 0;
    return { code, status, completeness: claims.completeness, findings, peak };
  } finally {
    liar.close();
  }
}

const isListing = (path: string) => path.includes('/entries/?');
const truth: Lie = () => undefined;

describe(`a stream of ${ENTRIES.toLocaleString('en')} entries`, () => {
  test('agrees with its listing, in bounded memory', async () => {
    const { code, completeness, peak } = await exportStream('many', truth);
    expect([code, completeness]).toEqual([
      0,
      {
        state: 'proved',
        basis: `the service's own listing has the same ${ENTRIES.toLocaleString('en')} entries with the same digests`,
      },
    ]);
    expect(peak).toBeLessThan(LIMIT_MB * 1e6);
  });

  test('differs from a listing in which one entry has another digest', async () => {
    const other = 'f'.repeat(64);
    const { code, completeness, findings, peak } = await exportStream('many', (path, answer) => {
      const entry = isListing(path) && answer.data.find((one: { sequence: number }) => one.sequence === CHANGED);
      if (!entry) return undefined;
      entry.hash = other;
      return answer;
    });
    expect([code, completeness]).toEqual([
      1,
      { state: 'refuted', reason: "the service's own listing differs in 1 entry" },
    ]);
    expect(findings).toMatchObject([
      {
        code: 'completeness/listing-differs',
        sequence: CHANGED,
        expected: other,
        message: expect.stringContaining('is listed with another digest'),
      },
    ]);
    expect(peak).toBeLessThan(LIMIT_MB * 1e6);
  });
});

describe('a stream of 20 entries', () => {
  const dropFromListing =
    (...sequences: number[]): Lie =>
    (path, answer) =>
      isListing(path)
        ? { ...answer, data: answer.data.filter((entry: { sequence: number }) => !sequences.includes(entry.sequence)) }
        : undefined;

  test.each([
    [
      'one that the listing lacks',
      dropFromListing(7),
      { sequence: 7 },
      'is in the package, but the service does not list it',
      1,
    ],
    ['three in a row that it lacks', dropFromListing(7, 8, 9), { from: 7, to: 9 }, 'is in the package, but', 3],
    ['the last that it lacks', dropFromListing(20), { sequence: 20 }, 'is in the package, but', 1],
  ])('%s', async (_words, lie, place, message, count) => {
    const { code, completeness, findings } = await exportStream('few', lie);
    expect([code, completeness.reason]).toEqual([
      1,
      `the service's own listing differs in ${count === 1 ? '1 entry' : `${count} entries`}`,
    ]);
    expect(findings).toMatchObject([
      { code: 'completeness/listing-differs', ...place, message: expect.stringContaining(message) },
    ]);
  });

  test('one that only the listing has, dated before the package was made', async () => {
    const { findings } = await exportStream('few', (path, answer) => {
      if (!isListing(path)) return undefined;
      const last = answer.data.at(-1);
      return { ...answer, data: [...answer.data, { ...last, sequence: last.sequence + 1 }] };
    });
    expect(findings).toMatchObject([
      {
        code: 'completeness/listing-differs',
        sequence: 21,
        message: expect.stringContaining('it is not in the package'),
      },
    ]);
  });

  test('one that was recorded after the package was made is not missed', async () => {
    const { code, completeness } = await exportStream('few', (path, answer) => {
      if (!isListing(path)) return undefined;
      const later = { ...answer.data.at(-1), sequence: 21, timestamp: new Date(Date.now() + 60_000).toISOString() };
      return { ...answer, data: [...answer.data, later] };
    });
    expect([code, completeness.state]).toEqual([0, 'proved']);
  });

  test('where listing is refused, the stream record is the basis, and says so', async () => {
    const refuse: Lie = (path) => (isListing(path) ? { nothing: 'here' } : undefined);
    const { code, completeness } = await exportStream('few', refuse);
    expect([code, completeness.state]).toEqual([0, 'proved']);
    expect(completeness.basis).toMatch(
      /^the stream record states the same 20 entries and head; the entries could not be listed/,
    );
  });

  test.each([
    ['another count', { entry_count: 21 }, 'states 21 entries and entry 20 as the newest'],
    ['another head', { head_hash: 'e'.repeat(64) }, 'states another digest of entry 20'],
  ])('a stream record that states %s', async (_words, statement, message) => {
    writeFileSync(join(directory, 'evidence.yaml'), 'verify:\n  completeness: record\n');
    const { code, findings } = await exportStream('few', (path, answer) => {
      if (!path.includes('/streams/?')) return undefined;
      const data = answer.data.map((stream: { stream_id: string }) =>
        stream.stream_id === 'few' ? { ...stream, ...statement } : stream,
      );
      return { ...answer, data };
    });
    expect(code).toBe(1);
    expect(findings).toMatchObject([{ code: 'completeness/count-differs', message: expect.stringContaining(message) }]);
  });

  test('"off" leaves it unproved and says so', async () => {
    writeFileSync(join(directory, 'evidence.yaml'), 'verify:\n  completeness: off\n');
    const { code, completeness } = await exportStream('few', truth);
    expect([code, completeness]).toEqual([
      0,
      { state: 'unproved', code: 'listing-off', reason: 'verify.completeness is "off"' },
    ]);
  });
});
