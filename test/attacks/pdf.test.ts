import { describe, expect, test } from 'vitest';
import { isEvidenceError } from '../../src/core/errors.ts';
import { judgeAgreement } from '../../src/verifier/claims/agreement.ts';
import { readPdf } from '../../src/verifier/pdf-text/reader.ts';
import type { SummaryFacts } from '../../src/verifier/reading/contract.ts';
import { chainOf, packageOf, readPackage, STREAM } from '../support/chain.ts';
import { drawnPdf, list, type Means, put, stream } from '../support/drawn-pdf.ts';

const PACKAGE = 'pkg_01JBQK7Z4N8T3W5X6Y7Z8A9B0C';
const OTHER = 'ab'.repeat(32);

function headOf(streamId: string, entries: number): string {
  return chainOf(entries, { stream_id: streamId }).at(-1)?.hash ?? '';
}

const HEAD = headOf(STREAM, 20);
const FACTS = [`Package: ${PACKAGE}`, `Stream: ${STREAM}`, 'Entries: 20', `Head: ${HEAD}`];
const [PACKAGE_LINE = '', STREAM_LINE = '', , HEAD_LINE = ''] = FACTS;
const REST = list(PACKAGE_LINE, STREAM_LINE, HEAD_LINE);

/** Text drawn below all other, with other operators before it. */
function drawn(before: string, text: string, after = ''): string {
  return `q ${before} ${put(text, 50, 500)} ${after} Q\n`;
}

async function judge(pdf: Uint8Array, streamId = STREAM, entries = 20, hasSummary = true) {
  const sent = chainOf(entries, { stream_id: streamId });
  const { walk, facts } = readPackage(packageOf(sent, { package_id: PACKAGE, stream_id: streamId }), { streamId });
  if (facts === null) throw new Error('the package was not read');
  const summary: SummaryFacts = {
    packageId: PACKAGE,
    streamId,
    entryCount: entries,
    headDigest: walk.head?.digest ?? '',
    actions: null,
    plain: [],
  };
  const reading = await readPdf(pdf).catch((error: unknown) => {
    if (!isEvidenceError(error, 'unreadable')) throw error;
    return { unreadable: error.message };
  });
  const { claim, findings } = judgeAgreement({
    walk,
    facts,
    summary: hasSummary ? summary : null,
    pdf: reading,
    vendor: null,
    ownVerdict: 'proved',
  });
  const codes = findings.list().map(({ code }) => code);
  return { claim, codes, words: claim.basis ?? claim.reason ?? '' };
}

interface Attack {
  pages: string[];
  means?: Means;
  state: 'proved' | 'refuted' | 'unproved';
  /** Of the findings. */
  codes?: string[];
  /** In the basis or reason. */
  words?: RegExp;
}

const COUNT = ['agreement/count-differs'];
const HEAD_DIFFERS = ['agreement/head-differs'];

/** A layer that is off. */
const LAYER: Means = {
  objects: ['<</Type/OCG/Name(L)>>'],
  resources: '/Properties<</L 20 0 R>>',
  catalog: '/OCProperties<</OCGs[20 0 R]/D<</Order[20 0 R]/OFF[20 0 R]>>>>',
};
const ALPHA: Means = { resources: '/ExtGState<</T <</ca 0>>/H <</ca 0.2>>/M <</BM/Multiply>>>>' };
const picture = (filter = '') =>
  stream('\0\0\0', `/Type/XObject/Subtype/Image/Width 1/Height 1/BitsPerComponent 8/ColorSpace/DeviceRGB${filter}`);
const PICTURE: Means = { objects: [picture()], resources: '/XObject<</P 20 0 R>>' };
const note = (content: string, flags: number) => [
  `<</Type/Annot/Subtype/Stamp/Rect[0 0 595 842]/F ${flags}/AP<</N 21 0 R>>>>`,
  stream(content, '/Type/XObject/Subtype/Form/BBox[0 0 595 842]/Resources<</Font<</F1 3 0 R>>>>'),
];

const HATCHES = Array.from({ length: 8 }, (_, line) => `40 ${497 + 1.8 * line} m 200 ${497 + 1.8 * line} l S`).join(
  ' ',
);
const ZIGZAG = `40 497 m ${Array.from({ length: 8 }, (_, line) => `${line % 2 === 0 ? 200 : 40} ${498 + 1.8 * line} l`).join(' ')} S`;

const HIDDEN: [string, string, Means?][] = [
  ['drawn invisibly', drawn('', 'Entries: 20').replace('Tf', 'Tf 3 Tr')],
  ['added to the clipping path only', drawn('', 'Entries: 20').replace('Tf', 'Tf 7 Tr')],
  ['white on white', drawn('1 g', 'Entries: 20')],
  ['nearly white on white', drawn('0.97 0.97 0.99 rg', 'Entries: 20')],
  ['black on a black bar', drawn('0 g 0 480 595 40 re f', 'Entries: 20')],
  ['in a layer that is off', drawn('/OC /L BDC', 'Entries: 20', 'EMC'), LAYER],
  ['transparent', drawn('/T gs', 'Entries: 20'), ALPHA],
  ['nearly transparent', drawn('/H gs', 'Entries: 20'), ALPHA],
  ['outside of the page', put('Entries: 20', 50, 900)],
  ['outside of the part of the page that is shown', put('Entries: 20', 50, 500), { page: '/CropBox[0 590 595 842]' }],
  ['clipped away', drawn('0 0 10 10 re W n', 'Entries: 20')],
  ['clipped to a star', drawn('0 0 m 300 842 l 595 0 l h W n', 'Entries: 20')],
  ['covered by a white bar', drawn('', 'Entries: 20', '1 g 0 480 595 40 re f')],
  ['covered by a thick white line', drawn('', 'Entries: 20', '1 G 40 w 0 502 m 595 502 l S')],
  ['covered by a picture', drawn('', 'Entries: 20', '300 0 0 40 0 480 cm /P Do'), PICTURE],
  [
    'covered by a picture within the page',
    drawn('', 'Entries: 20', '300 0 0 40 0 480 cm BI /W 1/H 1/BPC 8/CS/G ID \xff EI'),
  ],
  ['covered by white letters', drawn('', 'Entries: 20', `1 g ${put('MMM', 40, 480, 60)}`)],
  [
    'covered by the white outlines of letters',
    drawn('', 'Entries: 20', `1 G 20 w 1 Tr ${put('MMM', 40, 480, 60)} 0 Tr`),
  ],
  ['filled, and drawn over by its own thick white outline', drawn('1 G 12 w 2 Tr', 'Entries: 20', '0 Tr')],
  ['hatched away by thin white lines', drawn('', 'Entries: 20', `1 G 1.9 w ${HATCHES}`)],
  ['hatched away by one thin white zigzag', drawn('', 'Entries: 20', `1 G 1.9 w ${ZIGZAG}`)],
  ['in pale yellow on white', drawn('1 1 0.4 rg', 'Entries: 20')],
  ['in pale grey on white', drawn('0.74 g', 'Entries: 20')],
  ['squeezed to a line', drawn('5 Tz', 'Entries: 20', '100 Tz')],
  ['too small to read', put('Entries: 20', 50, 500, 1)],
  ['scaled to nothing', drawn('0.1 0 0 0.1 45 450 cm', 'Entries: 20')],
  ['upside down', drawn('-1 0 0 -1 595 842 cm', 'Entries: 20')],
  ['mirrored', drawn('-1 0 0 1 595 0 cm', 'Entries: 20')],
  ['in an annotation that is hidden', '', { page: '/Annots[20 0 R]', objects: note(put('Entries: 20'), 2) }],
  ['in an annotation', '', { page: '/Annots[20 0 R]', objects: note(put('Entries: 20', 50, 500), 4) }],
];

const WITH_999 = REST + put('Entries: 999', 50, 600);

describe('a count in sight that differs, and ours', () => {
  test.each(HIDDEN)('%s', async (_words, content, means) => {
    const { claim, codes } = await judge(drawnPdf([WITH_999 + content], means));
    expect([claim.state, codes]).toEqual(['refuted', COUNT]);
  });
});

describe('our count in sight, and another', () => {
  const ours = REST + put('Entries: 20', 50, 600);
  const another = HIDDEN.filter(([words]) => words !== 'in an annotation that is hidden');
  test.each(another)('%s', async (_words, content, means = {}) => {
    const objects = means.objects?.map((object) => object.replace('Entries: 20', 'Entries: 99'));
    const pdf = drawnPdf([ours + content.replace('Entries: 20', 'Entries: 99')], {
      ...means,
      ...(objects && { objects }),
    });
    const { claim, codes, words } = await judge(pdf);
    expect([claim.state, codes]).toEqual(['unproved', []]);
    expect(words).toMatch(/^the PDF \(page 1, .+\) states "entries: 99", which may be another count$/);
  });
});

describe('our count in no other place than', () => {
  test.each(HIDDEN)('%s proves nothing of the count', async (_words, content, means) => {
    const { claim, words } = await judge(drawnPdf([REST + content], means));
    expect(claim.state).toBe('proved');
    expect(words).toContain('the text of the PDF (package, stream, head: 3 statements)');
    const alone = await judge(drawnPdf([list(PACKAGE_LINE) + content], means), STREAM, 20, false);
    expect(alone.claim.state).toBe('unproved');
  });
});

/** Our count, 20, in a font F2, or with other operators around its digits: what is seen of it is another. */
function counted(before: string, digits: string, after = ''): string[] {
  return [`${REST}${put('Entries:', 50, 600)} BT ${before} 1 0 0 1 100 600 Tm ${digits} ${after} ET\n`];
}

const IN_F1 = '/F1 9 Tf';
const WITHOUT_COUNT = /\(package, stream, head: 3 statements\)/;
const NO_PDF = /the PDF states nothing/;
const APART = [...'Entries:02'].map((letter, index) => put(letter, 50 + 9 * index, 500)).join('');

function font(more: string): Means {
  return { objects: [`<</Type/Font/BaseFont/Helvetica/Encoding/WinAnsiEncoding${more}>>`], fonts: '/F2 20 0 R' };
}

/** A font whose letters are drawings. */
function drawings(glyph: string, matrix: string, width: number): Means {
  const widths = Array.from({ length: 10 }, () => width).join(' ');
  return {
    objects: [
      `<</Type/Font/Subtype/Type3/FontBBox[0 -200 1000 1000]/FontMatrix[${matrix}]/CharProcs<</two 21 0 R/zero 21 0 R>>/Encoding<</Differences[48/zero 50/two]>>/FirstChar 48/LastChar 57/Widths[${widths}]/Resources<<>>>>`,
      stream(glyph),
    ],
    fonts: '/F2 20 0 R',
  };
}

function annotation(more: string): Means {
  return {
    objects: [`<</Type/Annot/Rect[45 595 300 620]/F 4/DA(/F1 9 Tf)/Contents(Entries: 99)${more}>>`],
    page: '/Annots[20 0 R]',
  };
}

test('a page that the page tree names and does not count', async () => {
  const pdf = drawnPdf([list(...FACTS), list('Entries: 999')])
    .toString('latin1')
    .replace('/Count 2', '/Count 1');
  const { claim } = await judge(Buffer.from(pdf, 'latin1'));
  expect(claim).toMatchObject({ state: 'unproved', reason: expect.stringContaining('more pages than it counts') });
});

const ATTACKS: Record<string, Attack> = {
  'a wrong head in sight, the right one invisible': {
    pages: [list(PACKAGE_LINE, STREAM_LINE, 'Entries: 20', `Head: ${OTHER}`) + drawn('3 Tr', HEAD_LINE)],
    state: 'refuted',
    codes: HEAD_DIFFERS,
  },
  'a first page that is right, a last one with another count': {
    pages: [list(...FACTS), list('Entries: 999')],
    state: 'unproved',
    words: /page 2\) states "entries: 999"/,
  },
  'a page between that states another head': {
    pages: [list(...FACTS), list(`Head: ${OTHER}`), list('End')],
    state: 'unproved',
    words: /page 2\) states "head: /,
  },
  'our count with its word, another as the total': {
    pages: [REST + put('Entries: 20 entries', 50, 600) + put('Total entries: 999', 50, 580)],
    state: 'unproved',
    words: /"total entries: 999"/,
  },
  'two counts beside each other': {
    pages: [REST + put('Entries 20', 50, 600) + put('Entries 999', 250, 600)],
    state: 'unproved',
    words: /"entries: 999"/,
  },
  'an entry in a table that is called like a fact': {
    pages: [list(...FACTS) + put('10:00', 50, 500) + put('Package: x1', 150, 500) + put('read', 300, 500)],
    state: 'unproved',
  },
  'another count below its label': {
    pages: [list(...FACTS) + list('', '', '', '', '', '', 'Entries', '999')],
    state: 'unproved',
    words: /page 1\) states "entries: 999"/,
  },
  'another count in a sentence': {
    pages: [list(...FACTS, '', 'This package contains 999 entries.')],
    state: 'unproved',
  },
  'another count beside ours in a table of other things': {
    pages: [list(...FACTS, '', 'Actor: alice', 'Entries: 7', 'Actor: bob', 'Entries: 13')],
    state: 'unproved',
  },
  'the last digit of ours covered': {
    pages: [`${REST}${put('Entries: 20', 50, 600)} q 1 g 87.5 595 20 20 re f Q`],
    state: 'proved',
    words: /\(package, stream, head: 3 statements\)/,
  },
  'the last digit of ours clipped away': {
    pages: [`${REST} q 0 0 87.5 842 re W n ${put('Entries: 20', 50, 600)} Q`],
    state: 'proved',
    words: /\(package, stream, head: 3 statements\)/,
  },
  'counts of months under their headings, as an honest service may state them': {
    pages: [list('Audit evidence', ...FACTS, 'August 2026', 'Entries: 5', 'Breakdown', 'Entries: 15')],
    state: 'unproved',
    words: /may be another count/,
  },
  'a count of a month only': {
    pages: [list('Audit evidence', PACKAGE_LINE, STREAM_LINE, HEAD_LINE, '2026-08', 'Entries: 5')],
    state: 'unproved',
    words: /may be another count/,
  },
  'another package': {
    pages: [list(...FACTS, 'Package: pkg_other')],
    state: 'unproved',
    words: /"package: pkg_other"/,
  },
  'another stream': {
    pages: [list(...FACTS, 'Stream: payments/test')],
    state: 'unproved',
    words: /"stream: payments\/test"/,
  },
  'a breakdown below, as long as the facts are there': {
    pages: [list(...FACTS, 'August 2026', 'Entries: 5', 'Ann Smith', 'Entries: 7')],
    state: 'unproved',
  },
  'a note in an entry that reads like a fact': {
    pages: [list(...FACTS), list('Entry 3', 'note', 'Entries: 7')],
    state: 'unproved',
  },
  'one count printed over another': {
    pages: [REST + put('Entries: 20', 50, 600) + put('Entries: 99', 50, 600)],
    state: 'unproved',
  },
  'a number added that nobody sees': {
    pages: [REST + put('Entries: 20', 50, 600) + drawn('1 g', '').replace('Q', `${put('0', 96, 600)} Q`)],
    state: 'unproved',
  },
  'digits drawn in the other order by the space between characters': {
    pages: counted(IN_F1, '-10 Tc (20) Tj', '0 Tc'),
    state: 'unproved',
    words: /set in no plain order/,
  },
  'digits drawn in the other order by many small steps back': {
    pages: counted(IN_F1, `[(2) ${'139 '.repeat(8)}(0)] TJ`),
    state: 'unproved',
    words: /set in no plain order/,
  },
  'digits drawn in the other order by negative widths': {
    pages: counted('/F2 9 Tf', '(20) Tj'),
    means: font(`/Subtype/Type1/FirstChar 48/LastChar 57/Widths[${'-556 '.repeat(10)}]`),
    state: 'proved',
    words: WITHOUT_COUNT,
  },
  'digits drawn over each other by no widths': {
    pages: counted('/F2 9 Tf', '(20) Tj'),
    means: font(`/Subtype/Type1/FirstChar 48/LastChar 57/Widths[${'1 '.repeat(10)}]`),
    state: 'proved',
    words: WITHOUT_COUNT,
  },
  'letters that draw nothing': {
    pages: counted('/F2 9 Tf', '(20) Tj'),
    means: drawings('556 0 d0', '0.001 0 0 0.001 0 0', 556),
    state: 'proved',
    words: NO_PDF,
  },
  'letters that are a thousandth as large as they say': {
    pages: counted('/F2 9 Tf', '(20) Tj'),
    means: drawings('556000 0 0 0 556 700 d1 0 0 556 700 re f', '0.000001 0 0 0.000001 0 0', 556_000),
    state: 'proved',
    words: NO_PDF,
  },
  'a digit that says it is two others': {
    pages: counted('/F2 9 Tf', '(9) Tj'),
    means: {
      objects: [
        '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode 21 0 R>>',
        stream(
          'begincmap 1 begincodespacerange <00> <ff> endcodespacerange 1 beginbfchar <39> <00320030> endbfchar endcmap',
        ),
      ],
      fonts: '/F2 20 0 R',
    },
    state: 'proved',
    words: WITHOUT_COUNT,
  },
  'another count in letters that stand apart': {
    pages: [list(...FACTS) + APART],
    state: 'unproved',
    words: /letters stand apart/,
  },
  'another count in pieces of words': {
    pages: [list(...FACTS) + put('Ent', 50, 500) + put('ries: 99', 68, 500)],
    state: 'unproved',
    words: /letters stand apart/,
  },
  'a note that each viewer draws in its own way': {
    pages: [list(...FACTS)],
    means: annotation('/Subtype/FreeText'),
    state: 'unproved',
    words: /annotation that each viewer draws/,
  },
  'a form field': {
    pages: [list(...FACTS)],
    means: annotation('/Subtype/Widget/FT/Tx/T(a)/V(Entries: 99)'),
    state: 'unproved',
    words: /annotation that each viewer draws/,
  },
  'a link, a field of a signature that is not shown, frames and underlines': {
    pages: [`${list(...FACTS)}q 0.5 w 40 640 400 80 re S 50 684 m 200 684 l S Q`],
    means: {
      objects: [
        '<</Type/Annot/Subtype/Link/Rect[45 595 300 620]/F 4/A<</S/URI/URI(https://example.org)>>>>',
        '<</Type/Annot/Subtype/Widget/FT/Sig/T(s)/Rect[0 0 0 0]/F 132>>',
      ],
      page: '/Annots[20 0 R 21 0 R]',
    },
    state: 'proved',
    words: /4 statements/,
  },
  'a label in letters that look like ours': {
    pages: [list(...FACTS) + put('\x01ntries: 999', 50, 600).replace('/F1', '/F2')],
    means: {
      objects: [
        '<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding<</BaseEncoding/WinAnsiEncoding/Differences[1/Epsilon]>>>>',
      ],
      fonts: '/F2 20 0 R',
    },
    state: 'unproved',
  },
  'a count in groups': { pages: [REST + put('Entries: 1,000', 50, 600)], state: 'refuted', codes: COUNT },
  'a count that may be a fraction': { pages: [REST + put('Entries: 1.250', 50, 600)], state: 'unproved' },
  'a count that may be twenty point nothing': { pages: [REST + put('Entries: 20.000', 50, 600)], state: 'unproved' },
  'all of them verified': {
    pages: [list(...FACTS, 'Entries verified: 20 of 20', 'Entries per page: 50')],
    state: 'proved',
  },
  'a head cut short that is ours': {
    pages: [list(PACKAGE_LINE, STREAM_LINE, 'Entries: 20', `Head: ${HEAD.slice(0, 16)}...`)],
    state: 'proved',
    words: /the PDF \(package, stream, count: 3 statements\)/,
  },
  'a head cut short that is another': {
    pages: [list(PACKAGE_LINE, STREAM_LINE, 'Entries: 20', 'Head: abababababab...')],
    state: 'unproved',
  },
  'every fact twice': {
    pages: [list(...FACTS), list(...FACTS)],
    state: 'proved',
    words: /the PDF \(package, stream, count, head: 8 statements\)/,
  },
  'the same text printed twice to make it bold': {
    pages: [list(...FACTS) + put('Entries: 20', 50.3, 672)],
    state: 'proved',
    words: /4 statements/,
  },
  'a page that lies on its side, with its text upright': {
    pages: [
      `q 0 1 -1 0 595 0 cm ${list(...FACTS)
        .replaceAll(' 700 Tm', ' 500 Tm')
        .replaceAll(' 686 Tm', ' 486 Tm')
        .replaceAll(' 672 Tm', ' 472 Tm')
        .replaceAll(' 658 Tm', ' 458 Tm')} Q`,
    ],
    means: { page: '/Rotate 90' },
    state: 'proved',
  },
  'white text on a dark bar, which is plain to see': {
    pages: [`q 0.1 0.2 0.4 rg 0 590 595 20 re f 1 g ${put('Entries: 20', 50, 596)} Q ${REST}`],
    state: 'proved',
    words: /4 statements/,
  },
};

test.each(Object.entries(ATTACKS))('%s', async (_words, { pages, means, state, codes = [], words = /./ }) => {
  const result = await judge(drawnPdf(pages, means));
  expect([result.claim.state, result.codes, result.words]).toEqual([state, codes, expect.stringMatching(words)]);
});

describe('a font that lacks characters', () => {
  const facts = (stated: string, streamId: string) => [
    `Package: ${PACKAGE}`,
    `Stream: ${stated}`,
    'Entries: 3',
    `Head: ${headOf(streamId, 3)}`,
  ];
  test.each([
    ['a mark for each', '日本-prod', '??-prod', 'proved'],
    ['nothing', '日本-prod', '-prod', 'proved'],
    ['all of it lost', '日本', '??', 'proved'],
    ['another id of the same script', '日本-prod', '??-test', 'unproved'],
    ['an id without such characters', '日本-prod', 'payments', 'unproved'],
    ['marks where ours has none', 'payments/prod', 'pay?ents/prod', 'unproved'],
    ['ours', 'payments/prod', 'payments/prod', 'proved'],
    ['another', 'payments/prod', 'payments/test', 'refuted'],
    ['ours cut short', 'payments/production/eu-central-1', 'payments/produc...', 'proved'],
    ['its beginning, as if it were all', 'payments/prod', 'payments', 'unproved'],
  ])('%s', async (_words, streamId, stated, state) => {
    const { claim } = await judge(drawnPdf([list(...facts(stated, streamId))]), streamId, 3);
    expect(claim.state).toBe(state);
  });
});

test('pages beyond what is read leave it unproved, and the last page is read', async () => {
  const pages = [list(...FACTS), ...Array.from({ length: 1000 }, () => put('more')), list('Entries: 20')];
  expect((await judge(drawnPdf(pages))).words).toBe('pages 1000 to 1001 of the PDF were not read');
  const lying = [...pages.slice(0, -1), list('Entries: 999')];
  expect((await judge(drawnPdf(lying))).words).toMatch(/"entries: 999"/);
});
