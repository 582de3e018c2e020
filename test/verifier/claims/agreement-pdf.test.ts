import { describe, expect, test } from 'vitest';
import type { EvidencePdf } from '../../../src/platform/audit/pdf/input.ts';
import { renderEvidencePdf } from '../../../src/platform/audit/pdf.ts';
import type { PackageReading } from '../../../src/verifier/chain/package.ts';
import type { PdfReading, SummaryReading } from '../../../src/verifier/claims/agreement.ts';
import { judgeAgreement } from '../../../src/verifier/claims/agreement.ts';
import type { StatedFact } from '../../../src/verifier/pdf-text/labels.ts';
import { readPdfFacts } from '../../../src/verifier/pdf-text/pdf.ts';
import type { Statement } from '../../../src/verifier/pdf-text/statements.ts';
import { chainOf, packageOf, readPackage, type SentPackage, STREAM } from '../../support/chain.ts';
import { evidencePdf } from '../../support/evidence-pdf.ts';

const entries = chainOf(20);
const HEAD = entries.at(-1)?.hash ?? '';
const OTHER_HEAD = 'ab'.repeat(32);
const PACKAGE = 'pkg_01JBQK7Z4N8T3W5X6Y7Z8A9B0C';
const SUMMARY = { packageId: PACKAGE, streamId: STREAM, entryCount: 20, headDigest: HEAD, actions: null, plain: [] };
const NOTHING: PdfReading = { statements: [], unread: null, doubts: [] };
const FACTS = stating({ package: PACKAGE, stream: STREAM, count: '20', head: HEAD });

/** One plain statement of each. */
function stating(facts: Partial<Record<StatedFact, string>>): PdfReading {
  const statements = Object.entries(facts).map(
    ([fact, text]): Statement => ({
      fact: fact as StatedFact,
      label: fact,
      texts: [text],
      page: 1,
      isPlain: true,
      columns: '',
      section: '',
      isOverprinted: false,
      unseen: null,
    }),
  );
  return { statements, unread: null, doubts: [] };
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

/** What our platform's PDF form of the package says, with something in it changed. */
async function platformPdf(change: Partial<EvidencePdf['summary']>) {
  const input = evidencePdf(20);
  input.summary = { ...input.summary, stream_id: STREAM, head_hash: HEAD, ...change };
  return readPdfFacts(await renderEvidencePdf(input));
}

describe('the PDF as our platform makes it', () => {
  test.each([
    [
      'with the summary',
      SUMMARY,
      'the JSON form, the summary and the text of the PDF (package, stream, count, head: 4 statements) agree',
    ],
    [
      'alone',
      null,
      'the JSON form and the text of the PDF (package, stream, count, head: 4 statements) agree; there is no summary',
    ],
  ])('proves agreement %s', async (_words, summary, basis) => {
    expect(judge(await platformPdf({}), summary)).toEqual({ claim: { state: 'proved', basis }, findings: [] });
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

test.each<[string, PdfReading | null, SummaryReading | null, string, string]>([
  [
    'a summary that cannot be read',
    null,
    { unreadable: 'it is not JSON' },
    'unproved',
    'the summary could not be read: it is not JSON',
  ],
  ['no PDF', null, SUMMARY, 'proved', 'the JSON form and the summary agree; there is no PDF'],
  [
    'a PDF that cannot be read',
    { unreadable: 'the PDF is encrypted' },
    SUMMARY,
    'unproved',
    'the PDF could not be read: the PDF is encrypted',
  ],
  [
    'a PDF without facts',
    NOTHING,
    SUMMARY,
    'proved',
    'the JSON form and the summary agree; the PDF states nothing that was found to compare',
  ],
  [
    'a PDF with a count',
    stating({ count: '20' }),
    null,
    'proved',
    'the JSON form and the text of the PDF (count: 1 statement) agree; there is no summary',
  ],
  [
    'a PDF with a head',
    stating({ head: HEAD }),
    null,
    'proved',
    'the JSON form and the text of the PDF (head: 1 statement) agree; there is no summary',
  ],
  [
    'a PDF that names only package and stream',
    stating({ package: PACKAGE, stream: STREAM }),
    null,
    'unproved',
    'no other form states a count or a head to hold the JSON form against; there is no summary',
  ],
  [
    'a PDF without facts, and no summary',
    NOTHING,
    null,
    'unproved',
    'no other form states a count or a head to hold the JSON form against; there is no summary; the PDF states nothing that was found to compare',
  ],
  [
    'neither form',
    null,
    null,
    'unproved',
    'no other form states a count or a head to hold the JSON form against; there is no summary; there is no PDF',
  ],
])('what is said of %s', (_words, pdf, summary, state, words) => {
  const { claim, findings } = judge(pdf, summary);
  expect([claim.state, claim.basis ?? claim.reason, findings]).toEqual([state, words, []]);
});

test.each<[string, string, number]>([
  ['a plain word', 'payments', 4],
  ['one that needs two lines', `s${'1'.repeat(300)}`, 4],
  ['another script', 'кадры', 4],
  ['a character without a glyph', 'pay\u{1F512}ments-01', 3],
  ['one with a space', 'payments prod', 4],
])('a stream id that is %s agrees with itself', async (_words, id, statements) => {
  const sent = chainOf(3, { stream_id: id });
  const input = evidencePdf(3);
  input.summary = { ...input.summary, stream_id: id, head_hash: sent.at(-1)?.hash ?? '' };
  const reading = readPackage(packageOf(sent, { package_id: PACKAGE, stream_id: id }), { streamId: id });
  const { claim, findings } = judge(await readPdfFacts(await renderEvidencePdf(input)), null, reading);
  expect([claim.state, findings]).toEqual(['proved', []]);
  expect(claim.basis).toContain(`: ${statements} statements)`);
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
