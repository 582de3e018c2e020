import { describe, expect, test } from 'vitest';
import { judgeAgreement } from '../../../src/verifier/claims/agreement.ts';
import type { OwnVerdict, VendorVerdict } from '../../../src/verifier/claims/agreement-vendor.ts';
import type { Claim } from '../../../src/verifier/claims/claim.ts';
import type { PackageFacts, SummaryFacts } from '../../../src/verifier/reading/contract.ts';
import { chainOf, packageOf, readPackage, type SentEntry, STREAM, sealed } from '../../support/chain.ts';

const intact = chainOf(20).slice(4);
const ACTION = String(intact[0]?.['action']);
const mixed = [...intact.slice(0, -1), sealed({ ...(intact.at(-1) as SentEntry), action: 'delete' })];
const HEAD = intact.at(-1)?.hash ?? '';
const SUMMARY: SummaryFacts = {
  packageId: 'pkg-1',
  streamId: STREAM,
  entryCount: 16,
  headDigest: HEAD,
  actions: null,
  plain: [],
};

interface Question {
  entries?: SentEntry[];
  facts?: Partial<PackageFacts>;
  summary?: SummaryFacts | null;
  vendor?: VendorVerdict | null;
  ownVerdict?: OwnVerdict;
}

function judge({ entries = intact, facts = {}, summary = SUMMARY, vendor = null, ownVerdict = 'proved' }: Question) {
  const reading = readPackage(packageOf(entries), { streamId: STREAM, actions: true });
  if (reading.facts === null) throw new Error('the package was not read');
  const { walk } = reading;
  const question = { walk, facts: { ...reading.facts, ...facts }, summary, vendor, ownVerdict };
  const { claim, findings } = judgeAgreement(question);
  const list = findings.list();
  return {
    claim,
    found: list.map(({ code, expected }) => `${code} ${expected}`),
    messages: list.map(({ message }) => message),
  };
}

const OTHER = 'f'.repeat(64);
const STATEMENTS: [string, Question, string, string[]][] = [
  ['all agree', {}, 'proved', []],
  ['the package states another count', { facts: { entryCount: 15 } }, 'refuted', ['agreement/count-differs 15']],
  ['the package states no count', { facts: { entryCount: null } }, 'proved', []],
  ['the package states another head', { facts: { headDigest: OTHER } }, 'refuted', [`agreement/head-differs ${OTHER}`]],
  ['the package states no head', { facts: { headDigest: null } }, 'refuted', ['agreement/head-differs null']],
  [
    'the package states another first number',
    { facts: { firstSequence: 1 } },
    'refuted',
    ['agreement/count-differs 1'],
  ],
  ['the package states another last number', { facts: { lastSequence: 21 } }, 'refuted', ['agreement/head-differs 21']],
  [
    'the summary states another count',
    { summary: { ...SUMMARY, entryCount: 17 } },
    'refuted',
    ['agreement/count-differs 17'],
  ],
  [
    'the summary states another head',
    { summary: { ...SUMMARY, headDigest: OTHER } },
    'refuted',
    [`agreement/head-differs ${OTHER}`],
  ],
  [
    'the summary counts other actions',
    { summary: { ...SUMMARY, actions: [['delete', 16]] } },
    'refuted',
    ['agreement/count-differs 16'],
  ],
  [
    'the summary counts more of an action',
    { summary: { ...SUMMARY, actions: [[ACTION, 17]] } },
    'refuted',
    ['agreement/count-differs 17'],
  ],
  [
    'the summary counts an action that no entry has',
    {
      summary: {
        ...SUMMARY,
        actions: [
          [ACTION, 16],
          ['delete', 1],
        ],
      },
    },
    'refuted',
    ['agreement/count-differs 1'],
  ],
  [
    'the summary counts actions as the entries have them',
    { summary: { ...SUMMARY, actions: [[ACTION, 16]] } },
    'proved',
    [],
  ],
  [
    'the summary leaves out an action',
    { entries: mixed, summary: { ...SUMMARY, headDigest: mixed.at(-1)?.hash ?? '', actions: [[ACTION, 15]] } },
    'unproved',
    [],
  ],
  ['the summary lists no actions', { summary: { ...SUMMARY, actions: [] } }, 'proved', []],
  [
    'the summary is of another package',
    { summary: { ...SUMMARY, packageId: 'pkg-2' } },
    'refuted',
    ['agreement/package-differs pkg-2'],
  ],
  [
    'the summary is of another stream',
    { summary: { ...SUMMARY, streamId: 'other' } },
    'refuted',
    ['agreement/package-differs other'],
  ],
  [
    'everything differs',
    {
      facts: { entryCount: 1, headDigest: OTHER },
      summary: { packageId: 'p', streamId: 's', entryCount: 2, headDigest: OTHER, actions: null, plain: [] },
    },
    'refuted',
    [
      'agreement/count-differs 1',
      `agreement/head-differs ${OTHER}`,
      'agreement/package-differs p',
      'agreement/package-differs s',
      'agreement/count-differs 2',
      `agreement/head-differs ${OTHER}`,
    ],
  ],
  ['no summary', { summary: null }, 'unproved', []],
  [
    'no summary, and the package differs from itself',
    { summary: null, facts: { entryCount: 1 } },
    'refuted',
    ['agreement/count-differs 1'],
  ],
  [
    'nothing, stated as nothing',
    { entries: [], summary: { ...SUMMARY, entryCount: 0, headDigest: null } },
    'proved',
    [],
  ],
  [
    'nothing, stated as something',
    { entries: [], facts: { entryCount: 16, headDigest: HEAD } },
    'refuted',
    [
      'agreement/count-differs 16',
      `agreement/head-differs ${HEAD}`,
      'agreement/count-differs 16',
      `agreement/head-differs ${HEAD}`,
    ],
  ],
];

describe('what the forms state', () => {
  test.each(STATEMENTS)('%s', (_words, question, state, found) => {
    const result = judge(question);
    expect([result.claim.state, result.found.toSorted()]).toEqual([state, found.toSorted()]);
  });

  test('the differences are counted', () => {
    expect(judge({ facts: { entryCount: 1, headDigest: OTHER } }).claim.reason).toMatch(/^2 /);
  });
});

const said = (verified: boolean, failed_sequences: number[] = []): VendorVerdict => ({
  verified,
  checked_at: '2026-11-01T00:00:00.000Z',
  failed_sequences,
});

const DIFFERS = 'agreement/vendor-verdict-differs';
const FAILED = 'agreement/vendor-check-failed';
const AGREES = /and the recorded verdict of the service agree/;
const ELSEWHERE = /^the JSON form and the summary agree; .*the service's own check failed at .* not in this package/;
const VERDICTS: [string, VendorVerdict, OwnVerdict, Claim['state'], RegExp, string[]][] = [
  ['both say good', said(true), 'proved', 'proved', AGREES, []],
  ['the service says good, we could not check all', said(true), 'open', 'proved', AGREES, []],
  ['both say bad', said(false, [7]), 'refuted', 'proved', AGREES, []],
  ['the service says bad of another entry', said(false, [99]), 'refuted', 'proved', ELSEWHERE, [`${FAILED} undefined`]],
  ['the service says good, we say bad', said(true), 'refuted', 'refuted', /1 of/, [`${DIFFERS} verified`]],
  ['the service says bad, without a place', said(false), 'proved', 'refuted', /1 of/, [`${DIFFERS} not verified`]],
  ['bad of an entry in the package', said(false, [10]), 'proved', 'refuted', /1 of/, [`${DIFFERS} not verified`]],
  ['bad of the first in the package', said(false, [5]), 'proved', 'refuted', /1 of/, [`${DIFFERS} not verified`]],
  ['bad of the last', said(false, [20]), 'proved', 'refuted', /1 of/, [`${DIFFERS} not verified`]],
  ['bad of one before and one here', said(false, [1, 10]), 'proved', 'refuted', /1 of/, [`${DIFFERS} not verified`]],
  ['bad of entries around the package', said(false, [4, 21]), 'proved', 'proved', ELSEWHERE, [`${FAILED} undefined`]],
  [
    'bad, we could not check all',
    said(false, [10]),
    'open',
    'unproved',
    /at entry 10 .* not all/,
    [`${FAILED} undefined`],
  ],
  ['bad without a place, we could not check all', said(false), 'open', 'unproved', /not all/, [`${FAILED} undefined`]],
  ['bad elsewhere, we could not check all', said(false, [4]), 'open', 'proved', ELSEWHERE, [`${FAILED} undefined`]],
  ['good, and no key of ours fits a seal', said(true), 'keys', 'unproved', /verified .* only seals/, []],
  [
    'bad, and no key of ours fits',
    said(false, [10]),
    'keys',
    'unproved',
    /at entry 10 .* only seals/,
    [`${FAILED} undefined`],
  ],
];

describe("the service's own verdict", () => {
  test.each(VERDICTS)('%s', (_words, vendor, ownVerdict, state, words, codes) => {
    const { claim, found } = judge({ vendor, ownVerdict });
    expect([claim.state, found]).toEqual([state, codes]);
    expect(claim.basis ?? claim.reason).toMatch(words);
  });

  test('that differs names the entry', () => {
    const { messages } = judge({ vendor: said(false, [10]) });
    expect(messages).toEqual([
      'the service says not verified at entry 10 (checked 2026-11-01T00:00:00.000Z), our own check says not refuted',
    ]);
  });
});
