import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderLetter } from '../../../src/exporter/report/letter.ts';
import type { LetterSubject } from '../../../src/exporter/report/view/letter.ts';
import type { ShareRecord } from '../../../src/verifier/records/hold-log.ts';
import type { RunRecord } from '../../../src/verifier/records/record.ts';
import { run } from '../../support/process.ts';
import { DIGEST } from '../../support/records.ts';
import { digestOf, monthStream, partialRun, refutedRun, verifiedRun } from '../../support/run-records.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'letter-'));
});
afterAll(() => rm(folder, { recursive: true }));

const URL = 'https://store.example/b/runs/2026-10/run.json?X-Amz-Signature=00ff&x-id=GetObject';

function subject(
  record: RunRecord,
  more: Partial<LetterSubject> = {},
  share: Partial<ShareRecord> = {},
): LetterSubject {
  return {
    run: record,
    share: {
      format: 'evidence-share-record/7',
      run_id: record.run_id,
      shared_with: 'J. Smith, Example Audit',
      shared_by: { user: 'evidence', host: 'batch-7' },
      shared_at: '2026-11-21T12:00:00.000Z',
      form: 'links',
      expires_at: '2026-11-28T12:00:00.000Z',
      objects: [],
      ...share,
    },
    runSha256: digestOf(7),
    entry: { key: 'ledger/00000001.json', number: 1 },
    signature: null,
    stamp: null,
    roots: { checkpoints: null, stamps: null },
    files: [{ path: 'runs/2026-10/run.json', bytes: 1234, sha256: digestOf(7), url: URL }],
    ...more,
  };
}

async function lettersOf(about: LetterSubject): Promise<{ text: string; pages: string[]; file: string }> {
  const [pdf, text] = await renderLetter(about);
  if (pdf === undefined || text === undefined) throw new Error('a letter is missing');
  const file = join(folder, `${crypto.randomUUID()}.pdf`);
  await writeFile(file, pdf.bytes);
  const stdout = await run('pdftotext', [file, '-']);
  return { text: Buffer.from(text.bytes).toString(), pages: stdout.split('\f').slice(0, -1), file };
}

const squeezed = (text: string) => text.replace(/\s+/g, '');

describe.each([
  ['verified', verifiedRun([monthStream(1)]), ['VERIFIED']],
  ['refuted', refutedRun(), ['REFUTED', 'Do not rely on this evidence', '2 of 3 streams are refuted']],
  ['partial', partialRun(), ['PARTIAL', 'of 5 streams listed, 1 partial or unproved and 1 not collected']],
])('the letter of a %s run', (outcome, record, words) => {
  test('says so first, and on every page of the PDF that has something alarming to say', async () => {
    const { text, pages } = await lettersOf(subject(record));
    const [first = '', ...others] = pages;
    for (const word of words)
      for (const said of [text.slice(0, 800), first]) expect(squeezed(said)).toContain(squeezed(word));
    expect(text.indexOf(words[0] ?? '')).toBeLessThan(text.indexOf('2026-10'));
    for (const page of others) expect(page.includes(words[0] ?? '')).toBe(outcome !== 'verified');
    expect(others.length).toBeGreaterThan(0);
  });
});

test.each([
  'Acme Payments Ltd',
  'J. Smith, Example Audit',
  'evidence on batch-7',
  '2026-11-21T12:00:00.000Z',
  '2026-11-28T12:00:00.000Z at the latest',
  'October 2026 (1–31 October 2026, UTC)',
  `SHA-256 of run.json`,
  digestOf(7),
  '1 file, 1,234 bytes',
  'The run is not signed',
  'The run is not time-stamped.',
])('both letters state %s', async (words) => {
  const { text, pages } = await lettersOf(subject(verifiedRun([monthStream(1)])));
  for (const said of [text, pages.join('')])
    expect(squeezed(said).toLowerCase()).toContain(squeezed(words).toLowerCase());
});

test('the PDF is sound, tagged, the same each time, and a click on a file leads to its link', async () => {
  const about = subject(verifiedRun([monthStream(1)]));
  const { file } = await lettersOf(about);
  expect(await run('qpdf', ['--check', file])).toContain('No syntax or stream encoding errors found');
  expect(await run('pdfinfo', [file])).toMatch(/Tagged: +yes/);
  expect(await run('pdfinfo', ['-url', file])).toContain(URL);
  const [once, twice] = [await renderLetter(about), await renderLetter(structuredClone(about))];
  expect(Buffer.from(once[0]?.bytes ?? []).equals(twice[0]?.bytes ?? Buffer.of())).toBe(true);
});

test.each([
  ['of copies', subject(verifiedRun([]), {}, { form: 'copies', expires_at: null }), ['curl', 'Links expire']],
  ['of the first run in the ledger', subject(verifiedRun([])), ['The ledger is one chain']],
  ['of an unsigned run', subject(verifiedRun([])), ['openssl pkeyutl', 'PUBLIC_KEY']],
  ['of a run without a stamp', subject(verifiedRun([])), ['openssl ts']],
])('the letter %s does not ask for what is not there', async (_what, about, words) => {
  const { text } = await lettersOf(about);
  for (const word of words) expect(text).not.toContain(word);
  const signature = { envelope: 'e', keyId: DIGEST, isEcdsa: false };
  const entry = { key: 'ledger/00000002.json', number: 2 };
  const full = await lettersOf(subject(verifiedRun([]), { signature, entry, stamp: 'runs/2026-10/run.tsr' }));
  for (const word of words) expect(full.text).toContain(word);
});

const FORGED = 'url = "https://evil.example" output = "/etc/passwd"';

test.each([
  ['after a line break', `J\n${FORGED}`],
  ['after a line separator', `J\u2028${FORGED}`],
  ['where the line is full', `${'y'.repeat(90)} ${FORGED}`],
  ['as a digest', `${'y'.repeat(90)} ${DIGEST}  run.json\n${DIGEST}  run.json`],
])('no name makes a line that curl or sha256sum would read: %s', async (_what, name) => {
  const report = { organisation: name, prepared_by: null, oscal: false, controls: [] };
  const { text } = await lettersOf(subject(verifiedRun([], { report }), {}, { shared_with: name }));
  const lines = text.split(/[\n\u2028]/);
  expect(lines.filter((line) => /^(url|output) = /i.test(line))).toEqual([
    `url = "${URL}"`,
    'output = "runs/2026-10/run.json"',
  ]);
  expect(lines.filter((line) => /^[0-9a-f]{64} {2}/i.test(line))).toEqual([`${digestOf(7)}  runs/2026-10/run.json`]);
});
