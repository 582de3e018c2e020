import { expect, test } from 'vitest';
import { isEvidenceError } from '../../src/core/errors.ts';
import { judgeAgreement } from '../../src/verifier/claims/agreement.ts';
import { readPdf } from '../../src/verifier/pdf-text/reader.ts';
import type { SummaryFacts } from '../../src/verifier/reading/contract.ts';
import { chainOf, packageOf, readPackage, STREAM } from '../support/chain.ts';
import { type Deps, drawnPdf, list, put, stream } from '../support/drawn-pdf.ts';

const PACKAGE = 'pkg_01JBQK7Z4N8T3W5X6Y7Z8A9B0C';
const OTHER = 'ab'.repeat(32);
const SENT = chainOf(20, { stream_id: STREAM });
const HEAD = SENT.at(-1)?.hash ?? '';
const FACTS = [`Package: ${PACKAGE}`, `Stream: ${STREAM}`, 'Entries: 20', `Head: ${HEAD}`];
const [PACKAGE_LINE = '', STREAM_LINE = '', , HEAD_LINE = ''] = FACTS;

const SUMMARY: SummaryFacts = {
  packageId: PACKAGE,
  streamId: STREAM,
  entryCount: 20,
  headDigest: HEAD,
  actions: null,
  plain: [],
};

async function judge(pdf: Uint8Array, summary: SummaryFacts | null) {
  const { walk, facts } = readPackage(packageOf(SENT, { package_id: PACKAGE, stream_id: STREAM }), {
    streamId: STREAM,
  });
  if (facts === null) throw new Error('the package was not read');
  const reading = await readPdf(pdf).catch((error: unknown) => {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    return { unreadable: error.message };
  });
  const { claim, findings } = judgeAgreement({
    walk,
    facts,
    summary,
    pdf: reading,
    vendor: null,
    ownVerdict: 'proved',
  });
  return {
    claim,
    codes: findings.list().map(({ code }) => code),
    messages: findings.list().map(({ message }) => message),
  };
}

const NO_PART = 'the PDF is not part of what is proved';
const PROVED = { state: 'proved', basis: `the JSON form and the summary agree; ${NO_PART}` };

/** PDF features that show a program and a person two different documents. */
const LAYER: Deps = {
  objects: ['<</Type/OCG/Name(L)>>'],
  resources: '/Properties<</L 20 0 R>>',
  catalog: '/OCProperties<</OCGs[20 0 R]/D<</Order[20 0 R]/OFF[20 0 R]>>>>',
};
const COMPOSITE: Deps = {
  objects: ['<</Type/Font/Subtype/Type0/BaseFont/X/Encoding/Identity-H/DescendantFonts[]>>'],
  fonts: '/F2 20 0 R',
};
const TILING: Deps = {
  objects: [
    stream(
      put('Entries: 999'),
      '/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 595 842]/XStep 595/YStep 842/Resources<</Font<</F1 3 0 R>>>>',
    ),
  ],
  resources: '/Pattern<</P 20 0 R>>',
};
const LIE = list('Package: p2', 'Stream: other', 'Entries: 999', `Head hash: ${OTHER}`);
const OURS = list(...FACTS);

/** Pages with hidden or undefined content: no claim about them may be proved by the PDF. */
const UNSEEN: Record<string, [pages: string[], deps?: Deps]> = {
  'a lie invisibly beside the truth': [[`${OURS}q 3 Tr ${put('Entries: 999', 50, 500)} Q`]],
  'the truth invisibly beside a lie': [[`${LIE}q 3 Tr ${OURS} Q`]],
  'the truth white on white, and a lie': [[`${LIE}q 1 g ${OURS} Q`]],
  'a lie in a layer that is off': [[`${OURS}/OC /L BDC ${LIE} EMC`], LAYER],
  'a lie in a layer that is not defined': [[OURS, `/OC /x BDC ${LIE} EMC`]],
  'a lie and a graphics state that is not defined': [[OURS, `${LIE}/Gx gs`]],
  'a lie after thousands of operators and a graphics state that is not defined': [
    [`${OURS}${'0 g '.repeat(3000)}${LIE}/Gx gs`],
  ],
  'a lie and an XObject that is not defined': [[OURS, `${LIE}/Xx Do`]],
  'a lie and a shading that is not defined': [[OURS, `${LIE}/Sx sh`]],
  'a lie and a pattern that is not defined': [[OURS, `/Pattern cs /Px scn ${LIE}`]],
  'a lie and an inline picture without members': [[OURS, `${LIE}BI ID EI`]],
  'a lie in a composite font without descendants': [[`${OURS}${LIE.replaceAll('/F1', '/F2')}`], COMPOSITE],
  'a lie in a tiling pattern': [[`${OURS}/Pattern cs /P scn 0 0 595 842 re f`], TILING],
  'a lie on a page of its own': [[OURS, LIE]],
  'a lie between two pages': [[OURS, list(`Head: ${OTHER}`), list('End')]],
  'a lie beyond the pages that are read': [[OURS, ...Array.from({ length: 100 }, () => put('more')), LIE]],
  'a lie in letters that stand apart': [
    [OURS + [...'Entries:999'].map((letter, index) => put(letter, 50 + 9 * index, 500)).join('')],
  ],
  'a lie in a sentence': [[`${OURS}${put('This package contains 999 entries.', 50, 500)}`]],
  'a lie under labels of its own': [
    [OURS + list('', '', '', '', '', 'Audit entries: 999', 'Records: 999', 'Anzahl 999')],
  ],
  'a lie in a table': [
    [OURS + put('Package', 50, 500) + put('Entries', 200, 500) + put('p1', 50, 486) + put('999', 200, 486)],
  ],
  'a small truth and a large lie': [[put('Entries: 20', 50, 500, 4) + put('Total records 999', 50, 400, 24)]],
  'one count printed over another': [[OURS + put('Entries: 99', 50, 672)]],
  'a form field': [
    [OURS],
    {
      objects: ['<</Type/Annot/Rect[45 595 300 620]/F 4/DA(/F1 9 Tf)/Subtype/Widget/FT/Tx/T(a)/V(Entries: 99)>>'],
      page: '/Annots[20 0 R]',
    },
  ],
};

test.each(Object.entries(UNSEEN))('the PDF proves nothing, and says so: %s', async (_words, [pages, deps]) => {
  const pdf = drawnPdf(pages, deps);
  const { claim, codes } = await judge(pdf, SUMMARY);
  if (claim.state !== 'refuted')
    expect([claim, codes.every((code) => code.startsWith('agreement/pdf-'))]).toEqual([PROVED, true]);
  const alone = await judge(pdf, null);
  expect(alone.claim.state).not.toBe('proved');
});

interface Attack {
  pages: string[];
  state: 'proved' | 'refuted';
  codes: string[];
  message?: RegExp;
}

const COUNT = ['agreement/count-differs'];
const UNREAD = ['agreement/pdf-unread'];
const UNCLEAR = ['agreement/pdf-unclear'];

const ATTACKS: Record<string, Attack> = {
  'another count': {
    pages: [list(PACKAGE_LINE, STREAM_LINE, 'Entries: 999', HEAD_LINE)],
    state: 'refuted',
    codes: COUNT,
  },
  'another count on the last page': {
    pages: [list('Audit evidence'), list('Entries: 999')],
    state: 'refuted',
    codes: COUNT,
  },
  'another count with its word': { pages: [list('Entries: 999 entries')], state: 'refuted', codes: COUNT },
  'another head': { pages: [list(`Head: ${OTHER}`)], state: 'refuted', codes: ['agreement/head-differs'] },
  'another package': { pages: [list('Package: pkg_other')], state: 'refuted', codes: ['agreement/package-differs'] },
  'another stream': { pages: [list('Stream: payments/test')], state: 'refuted', codes: ['agreement/package-differs'] },
  'everything other': {
    pages: [LIE],
    state: 'refuted',
    codes: [
      'agreement/package-differs',
      'agreement/package-differs',
      'agreement/count-differs',
      'agreement/head-differs',
    ],
  },
  'another count beside a page that cannot be read': {
    pages: [list('Entries: 999'), '/Gx gs'],
    state: 'refuted',
    codes: [...UNREAD, ...COUNT],
  },
  'a page that cannot be read': {
    pages: [OURS, `${LIE}/Gx gs`],
    state: 'proved',
    codes: UNREAD,
    message: /^page 2 of the PDF could not be read: /,
  },
  'more pages than are read': {
    pages: [OURS, ...Array.from({ length: 100 }, () => put('more'))],
    state: 'proved',
    codes: UNREAD,
    message: /^pages 101 to 101 of the PDF were not read/,
  },
  'our count and another, as of a month': {
    pages: [list(...FACTS, 'August 2026', 'Entries: 5')],
    state: 'proved',
    codes: UNCLEAR,
    message: /count 5 \(page 1\)/,
  },
  'a note in an entry that reads like a fact': {
    pages: [OURS, list('note', 'Entries: 7')],
    state: 'proved',
    codes: UNCLEAR,
  },
  'an entry in a table that is called like a fact': {
    pages: [OURS + put('10:00', 50, 500) + put('Package: x1', 150, 500) + put('read', 300, 500)],
    state: 'proved',
    codes: [],
  },
  'every fact twice': { pages: [OURS, OURS], state: 'proved', codes: [] },
};

test.each(Object.entries(ATTACKS))('%s', async (_words, { pages, state, codes, message }) => {
  const result = await judge(drawnPdf(pages), SUMMARY);
  expect([result.claim.state, result.codes]).toEqual([state, codes]);
  if (state === 'proved') expect(result.claim).toEqual(PROVED);
  if (message !== undefined) expect(result.messages.join()).toMatch(message);
});
