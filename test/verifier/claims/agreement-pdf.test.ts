import { describe, expect, test } from 'vitest';
import { renderEvidencePdf } from '../../../src/platform/audit/pdf/document.ts';
import type { EvidencePdf } from '../../../src/platform/audit/pdf/sections.ts';
import type { PackageReading } from '../../../src/verifier/chain/package.ts';
import { judgeAgreement, type PdfReading, type SummaryReading } from '../../../src/verifier/claims/agreement.ts';
import { readPdfFacts, type StatedFact, type Statement } from '../../../src/verifier/pdf-text/pdf.ts';
import { chainOf, packageOf, readPackage, type SentPackage, STREAM } from '../../support/chain.ts';
import { evidencePdf } from '../../support/evidence-pdf.ts';

const entries = chainOf(20);
const HEAD = entries.at(-1)?.hash ?? '';
const OTHER_HEAD = 'ab'.repeat(32);
const PACKAGE = 'pkg_01JBQK7Z4N8T3W5X6Y7Z8A9B0C';
const SUMMARY = { packageId: PACKAGE, streamId: STREAM, entryCount: 20, headDigest: HEAD, actions: null, plain: [] };
const NOTHING: PdfReading = { statements: [], unread: [] };
const NO_PART = 'the PDF is not part of what is proved';
const FACTS = stating({ package: PACKAGE, stream: STREAM, count: '20', head: HEAD });

/** Returns one or several statements of each fact. */
function stating(facts: Partial<Record<StatedFact, string | string[]>>): PdfReading {
  const statements = Object.entries(facts).flatMap(([fact, values]) =>
    [values].flat().map((value): Statement => ({ fact: fact as StatedFact, value, page: 1 })),
  );
  return { statements, unread: [] };
}

function read(more: Partial<SentPackage> = {}, sent = entries): PackageReading {
  return readPackage(packageOf(sent, { package_id: PACKAGE, ...more }));
}

function judge(pdf: PdfReading | null, summary: SummaryReading | null = SUMMARY, reading = read()) {
  const { walk, facts } = reading;
  if (facts === null) throw new Error('the package was not read');
  const { claim, findings } = judgeAgreement({ walk, facts, summary, pdf, vendor: null, ownVerdict: 'proved' });
  return { claim, findings: findings.list() };
}

/** Reads the platform's PDF form of the package, with a changed summary. */
async function platformPdf(change: Partial<EvidencePdf['summary']>) {
  const input = evidencePdf(20);
  input.summary = { ...input.summary, stream_id: STREAM, head_hash: HEAD, ...change };
  return readPdfFacts(await renderEvidencePdf(input));
}

describe('the PDF as our platform makes it', () => {
  test.each([
    ['with the summary', SUMMARY, 'proved', `the JSON form and the summary agree; ${NO_PART}`],
    [
      'alone',
      null,
      'unproved',
      `no second machine-readable form states a count or a head to compare; there is no summary; ${NO_PART}`,
    ],
  ])('proves nothing %s', async (_words, summary, state, words) => {
    const { claim, findings } = judge(await platformPdf({}), summary);
    expect([claim.state, claim.basis ?? claim.reason, findings]).toEqual([state, words, []]);
  });

  test.each<[string, Partial<EvidencePdf['summary']>, string, string, string]>([
    ['count', { entry_count: 21 }, 'agreement/count-differs', '21', '20'],
    ['head', { head_hash: OTHER_HEAD }, 'agreement/head-differs', OTHER_HEAD, HEAD],
    [
      'package',
      { package_id: 'pkg_01JBQK7Z4N8T3W5X6Y7Z8A9B0D' },
      'agreement/package-differs',
      'pkg_01JBQK7Z4N8T3W5X6Y7Z8A9B0D',
      PACKAGE,
    ],
    ['stream', { stream_id: 'payments/test' }, 'agreement/package-differs', 'payments/test', STREAM],
  ])('refutes it when it states another %s, and names both', async (_what, change, code, expected, actual) => {
    const { claim, findings } = judge(await platformPdf(change));
    expect(claim).toEqual({ state: 'refuted', reason: '1 of the compared statements differs' });
    expect(findings).toMatchObject([{ code, expected, actual }]);
    expect(findings[0]?.message).toMatch(/^the PDF states /);
    expect(findings[0]?.message).toContain(expected);
    expect(findings[0]?.message).toContain(`and it is ${actual}`);
  });
});

const ALONE = 'no second machine-readable form states a count or a head to compare; there is no summary';
const AGREE = 'the JSON form and the summary agree';

test.each<[string, PdfReading | null, SummaryReading | null, string, string]>([
  [
    'a summary that cannot be read',
    null,
    { unreadable: 'it is not JSON' },
    'unproved',
    'the summary could not be read: it is not JSON',
  ],
  ['no PDF', null, SUMMARY, 'proved', AGREE],
  ['a PDF without facts', NOTHING, SUMMARY, 'proved', `${AGREE}; ${NO_PART}`],
  ['a PDF with facts, and no summary', FACTS, null, 'unproved', `${ALONE}; ${NO_PART}`],
  ['neither form', null, null, 'unproved', ALONE],
])('what is said of %s', (_words, pdf, summary, state, words) => {
  const { claim, findings } = judge(pdf, summary);
  expect([claim.state, claim.basis ?? claim.reason, findings]).toEqual([state, words, []]);
});

test.each<[string, PdfReading, string, RegExp]>([
  [
    'a PDF that cannot be read',
    { unreadable: 'it is encrypted' },
    'agreement/pdf-unread',
    /^the PDF could not be read: it is encrypted$/,
  ],
  [
    'a page that cannot be read',
    { statements: [], unread: ['page 2 of the PDF could not be read: it has no text'] },
    'agreement/pdf-unread',
    /^page 2 of the PDF could not be read: it has no text$/,
  ],
  ['our count and another', stating({ count: ['20', '999'] }), 'agreement/pdf-unclear', /count 999 \(page 1\)/],
  ['two other counts', stating({ count: ['7', '13'] }), 'agreement/pdf-unclear', /count 7 \(page 1\), count 13/],
])('%s is a warning, and changes nothing else', (_words, pdf, code, message) => {
  const { claim, findings } = judge(pdf);
  expect(claim).toEqual({ state: 'proved', basis: `${AGREE}; ${NO_PART}` });
  expect(findings).toMatchObject([{ code, severity: 'warning', message: expect.stringMatching(message) }]);
});

test.each<[string, StatedFact, string, string | null]>([
  ['a count in groups', 'count', '1,000', 'agreement/count-differs'],
  ['a count beyond all numbers', 'count', '99999999999999999999', 'agreement/count-differs'],
  ['a count that may be a fraction', 'count', '1.250', null],
  ['our count in another spelling', 'count', '020', null],
  ['another head', 'head', OTHER_HEAD, 'agreement/head-differs'],
  ['a head of another algorithm', 'head', 'ab'.repeat(48), null],
  ['another package', 'package', 'pkg_other', 'agreement/package-differs'],
  ['the package cut short', 'package', 'pkg_01JBQ...', null],
  ['the package without its end', 'package', 'pkg_01JBQ', null],
  ['another stream', 'stream', 'payments/test', 'agreement/package-differs'],
  ['a stream with a lost character', 'stream', 'pay?ents/prod', null],
  ['a stream in another script', 'stream', 'кадры', null],
])('%s', (_words, fact, value, code) => {
  const { claim, findings } = judge(stating({ [fact]: value }));
  expect([claim.state, findings.map((finding) => finding.code)]).toEqual(
    code === null ? ['proved', []] : ['refuted', [code]],
  );
});

test.each<[string, string]>([
  ['a plain word', 'payments'],
  ['one that needs two lines', `s${'1'.repeat(300)}`],
  ['another script', 'кадры'],
  ['a character without a glyph', 'pay\u{1F512}ments-01'],
  ['one with a space', 'payments prod'],
  ['one that begins like the mark of a label', '=payments'],
  ['one that begins with a colon', ':payments'],
])('our PDF of a stream id that is %s does not differ', async (_words, id) => {
  const sent = chainOf(3, { stream_id: id });
  const input = evidencePdf(3);
  input.summary = { ...input.summary, stream_id: id, head_hash: sent.at(-1)?.hash ?? '' };
  const reading = readPackage(packageOf(sent, { package_id: PACKAGE, stream_id: id }), { streamId: id });
  const { claim, findings } = judge(await readPdfFacts(await renderEvidencePdf(input)), null, reading);
  expect([claim.state, findings]).toEqual(['unproved', []]);
});

describe('what the JSON form states of its own entries', () => {
  test.each<[string, Partial<SentPackage>, [code: string, stated: string, ours: string][]]>([
    ['another first sequence', { first_sequence: 2 }, [['agreement/count-differs', '2', '1']]],
    ['another last sequence', { last_sequence: 25 }, [['agreement/head-differs', '25', '20']]],
    ['another head', { head_hash: OTHER_HEAD }, [['agreement/head-differs', OTHER_HEAD, HEAD]]],
    [
      'another head with its number, which is one difference',
      { head_hash: OTHER_HEAD, last_sequence: 25 },
      [['agreement/head-differs', OTHER_HEAD, HEAD]],
    ],
    ['no first and last sequence', { first_sequence: null, last_sequence: null }, []],
  ])('%s', (_words, more, expected) => {
    const { claim, findings } = judge(FACTS, SUMMARY, read(more));
    expect(findings.map(({ code, expected: stated, actual }) => [code, stated, actual])).toEqual(expected);
    expect(claim.state).toBe(expected.length === 0 ? 'proved' : 'refuted');
  });

  test('a package cut off at its head states another first sequence and another count', () => {
    const { findings } = judge(null, null, read({ entry_count: 20, first_sequence: 1 }, entries.slice(5)));
    expect(findings.map(({ code, message }) => [code, message])).toEqual([
      ['agreement/count-differs', 'the JSON form states 20 entries, and it is 15'],
      ['agreement/count-differs', 'the JSON form states 1 as its first sequence, and it is 6'],
    ]);
  });
});
