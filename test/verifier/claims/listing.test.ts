import { describe, expect, test } from 'vitest';
import { ListingMerge, type PackageCut } from '../../../src/verifier/claims/listing.ts';
import type { ListedEntry } from '../../../src/verifier/claims/packaged.ts';
import type { SentEntries } from '../../../src/verifier/model/batch.ts';

const at = (sequence: number, digest = `d${sequence}`): ListedEntry => ({
  sequence,
  digest,
  timestamp: new Date(Date.UTC(2026, 9, 1, 0, 0, sequence)).toISOString(),
});
const numbered = (length: number) => Array.from({ length }, (_, index) => at(index + 1));
const NEVER = Number.POSITIVE_INFINITY;
const LATEST = Number.POSITIVE_INFINITY;
const NO_CUT: PackageCut = { askedAt: NEVER, askedAtByService: null, statedHead: null, latest: LATEST };

/** Compares in steps, as a package and a listing arrive; the comparison requests the listing's pages. */
function compare(packaged: ListedEntry[], listed: ListedEntry[], cut = NO_CUT) {
  const merge = new ListingMerge('s');
  const pages = [...listed];
  const catchUp = () => {
    while (merge.wantsListing) {
      const page = pages.splice(0, 3);
      if (page.length === 0) merge.endListing();
      else merge.fromListing(page);
    }
  };
  for (const entry of packaged) {
    merge.fromPackage(entry);
    catchUp();
  }
  merge.endPackage(cut);
  catchUp();
  const { same, differences, deviations, undecided } = merge.result();
  const where = deviations.map(({ sequence, from, to }) => sequence ?? `${from}-${to}`);
  return { same, differences, where, undecided };
}

const ten = numbered(10);
const swapped = ten.toSpliced(4, 2, at(6), at(5));
const forked = ten.toSpliced(5, 0, at(5, 'other'));
const TABLE: [string, ListedEntry[], ListedEntry[], number, (number | string)[]][] = [
  ['the same', ten, ten, 10, []],
  ['nothing on either side', [], [], 0, []],
  ['a package out of order', swapped, ten, 10, []],
  ['a listing out of order', ten, swapped, 10, []],
  ['a listing the other way round', ten, ten.toReversed(), 10, []],
  ['both out of order in their own ways', swapped, ten.toSpliced(0, 2, at(2), at(1)), 10, []],
  ['one that is not listed', ten, ten.toSpliced(4, 1), 9, [5]],
  ['one that is not in the package', ten.toSpliced(4, 1), ten, 9, [5]],
  ['three after the end of the package', ten.slice(0, 7), ten, 7, ['8-10']],
  ['three after the end of the listing', ten, ten.slice(0, 7), 7, ['8-10']],
  ['another digest', ten, ten.with(4, at(5, 'other')), 9, [5]],
  ['two under one number on both sides', forked, forked.with(4, at(5, 'other')).with(5, at(5)), 11, []],
  ['two under one number in the package only', forked, ten, 10, [5]],
  ['one twice in the package', ten.toSpliced(5, 0, at(5)), ten, 10, [5]],
  ['one three times in the listing', ten, ten.toSpliced(5, 0, at(5), at(5)), 10, [5, 5]],
  ['nothing listed', ten, [], 0, ['1-10']],
];

test.each(TABLE)('%s', (_words, packaged, listed, same, where) => {
  expect(compare(packaged, listed)).toMatchObject({ same, where });
});

/** Formats a service's listing. */
const textOf = (entries: readonly ListedEntry[]) => entries.map((entry) => JSON.stringify(entry)).join(',');

/** Returns entries as a package reader does; released entries are empty. */
function sent(entries: readonly ListedEntry[], separator: string): SentEntries & { released: boolean } {
  const texts = entries.map((entry) => JSON.stringify(entry));
  const starts = texts.map((_, index) => texts.slice(0, index).join('').length + index * separator.length);
  const bytes = Buffer.from(texts.join(separator));
  const startOf = (index: number) => starts[index] ?? Number.NaN;
  const entryOf = (index: number) => {
    const entry = batch.released ? undefined : entries[index];
    if (entry === undefined) throw new RangeError('no such entry');
    return entry;
  };
  const batch = {
    count: entries.length,
    bytes,
    sequence: (index: number) => entryOf(index).sequence,
    start: startOf,
    end: (index: number) => startOf(index) + (texts[index]?.length ?? Number.NaN),
    digest: (index: number) => entryOf(index).digest,
    timestamp: (index: number) => entryOf(index).timestamp,
    released: false,
    release: () => {
      bytes.fill(0);
      batch.released = true;
    },
  };
  return batch;
}

/** Compares entries as sent, `size` consecutive ones at a time, with pages as text. */
function compareAsSent(packaged: ListedEntry[], listed: ListedEntry[], size: number, separator = ',', cut = NO_CUT) {
  const merge = new ListingMerge('s');
  const pages = [...listed];
  let matched = 0;
  const catchUp = () => {
    while (merge.wantsListing) {
      const page = pages.splice(0, 3);
      if (page.length === 0) merge.endListing();
      else {
        const { count } = merge.match(Buffer.from(`[${textOf(page)}]`), 1);
        matched += count;
        merge.fromListing(page.slice(count), count);
      }
    }
  };
  for (let at = 0; at < packaged.length; ) {
    let end = at + 1;
    while (end < at + size && packaged[end]?.sequence === (packaged[end - 1]?.sequence ?? 0) + 1) end++;
    const entries = packaged.slice(at, end);
    if (at % 4 === 3) for (const entry of entries) merge.fromPackage(entry);
    else merge.fromPackageAsSent(sent(entries, separator));
    at = end;
    catchUp();
  }
  merge.endPackage(cut);
  catchUp();
  const { same, differences, deviations } = merge.result();
  return { same, differences, where: deviations.map(({ sequence, from, to }) => sequence ?? `${from}-${to}`), matched };
}

describe('as they were sent', () => {
  describe.each([1, 2, 4, 10])('%d together', (size) => {
    test.each(TABLE)('%s', (_words, packaged, listed, same, where) => {
      for (const separator of [',', ', '])
        expect(compareAsSent(packaged, listed, size, separator)).toMatchObject({ same, where });
    });
  });

  test('those whose bytes the listing has are not looked at', () => {
    expect(compareAsSent(ten, ten, 10)).toMatchObject({ same: 10, matched: 10 });
    expect(compareAsSent(ten, ten.with(4, at(5, 'other')), 10)).toMatchObject({ same: 9, matched: 8, where: [5] });
    expect(compareAsSent(ten.slice(0, 5), ten, 10)).toMatchObject({ same: 5, matched: 5, where: ['6-10'] });
  });

  test('what does not stand after a comma is no item', () => {
    const merge = new ListingMerge('s');
    for (const entry of ten) merge.fromPackageAsSent(sent([entry], ','));
    const [first, second] = ten.map((entry) => textOf([entry]));
    for (const [separator, count] of [
      [',', 2],
      [';', 1],
      [' ', 1],
    ] as const)
      expect(merge.match(Buffer.from(`[${first}${separator}${second}]`), 1).count).toBe(count);
  });

  test('entries are released once the listing has told them all, and not before', () => {
    const merge = new ListingMerge('s');
    const batches = [ten.slice(0, 4), ten.slice(4)].map((entries) => sent(entries, ','));
    for (const batch of batches) merge.fromPackageAsSent(batch);
    const { count } = merge.match(Buffer.from(`[${textOf(ten.slice(0, 3))}]`), 1);
    merge.fromListing([], count);
    expect(batches.map(({ released }) => released)).toEqual([false, false]);
    // An entry that matched as sent, then is read separately.
    merge.fromListing([], merge.match(Buffer.from(`[${textOf(ten.slice(3, 4))}]`), 1).count);
    expect(batches.map(({ released }) => released)).toEqual([true, false]);
    merge.fromListing(ten.slice(4));
    expect(batches.map(({ released }) => released)).toEqual([true, true]);
  });

  test('an entry with which another begins is not it', () => {
    const merge = new ListingMerge('s');
    merge.fromPackageAsSent(sent(ten, ','));
    const text = Buffer.from(`[${textOf(ten.slice(0, 2)).slice(0, -1)}`);
    expect(merge.match(text, 1)).toEqual({ count: 1, end: 1 + textOf(ten.slice(0, 1)).length });
  });

  test('a page is wanted when there is as much as a page has, and not for each piece', () => {
    const merge = new ListingMerge('s');
    const thousand = sent(numbered(1000), ',');
    for (let bytes = thousand.bytes.length; bytes < 2 ** 20; bytes += thousand.bytes.length) {
      merge.fromPackageAsSent(thousand);
      expect(merge.wantsListing).toBe(false);
    }
    merge.fromPackageAsSent(thousand);
    expect(merge.wantsListing).toBe(true);
  });
});

describe('what was recorded since need not be in the package', () => {
  const time = (sequence: number) => Date.parse(at(sequence).timestamp);
  const untimed = ten.map((one) => ({ ...one, timestamp: '' }));
  const CUTS: [string, PackageCut, ListedEntry[], number, number][] = [
    ['by its time', { askedAt: time(9), askedAtByService: null, statedHead: null, latest: LATEST }, ten, 1, 0],
    [
      'by its time, beyond the head',
      { askedAt: time(10), askedAtByService: null, statedHead: 8, latest: LATEST },
      ten,
      2,
      0,
    ],
    [
      'whatever its time, up to the head',
      { askedAt: time(8), askedAtByService: time(8), statedHead: 10, latest: LATEST },
      ten,
      3,
      0,
    ],
    [
      'by a clock of the service ahead',
      { askedAt: time(8), askedAtByService: time(10), statedHead: 7, latest: LATEST },
      ten,
      2,
      0,
    ],
    [
      'undecided by a clock behind',
      { askedAt: time(10), askedAtByService: time(9), statedHead: 7, latest: LATEST },
      ten,
      1,
      1,
    ],
    [
      'undecided by a time that no clock has reached',
      { ...NO_CUT, askedAt: time(9), statedHead: 7, latest: time(9) },
      ten,
      1,
      1,
    ],
    [
      'by its number, undecided beyond that without a time',
      { askedAt: time(9), askedAtByService: null, statedHead: 9, latest: LATEST },
      untimed,
      2,
      1,
    ],
    [
      'undecided where neither is known',
      { askedAt: time(9), askedAtByService: null, statedHead: null, latest: LATEST },
      untimed,
      0,
      3,
    ],
    [
      'unless it was listed while the package went on',
      { askedAt: time(9), askedAtByService: null, statedHead: 7, latest: LATEST },
      untimed.map((one) => ({ ...one, isWithin: true })),
      3,
      0,
    ],
  ];
  test.each(CUTS)('%s', (_words, cut, listed, missed, undecided) => {
    expect(compare(ten.slice(0, 7), listed, cut)).toMatchObject({ same: 7, differences: missed, undecided });
  });

  test('one that is listed early does not hide those after it', () => {
    const later = { ...at(99), timestamp: at(50).timestamp };
    const cut = { askedAt: time(20), askedAtByService: null, statedHead: 10, latest: LATEST };
    expect(compare(ten.slice(0, 7), [...ten.slice(0, 7), later, ...ten.slice(7)], cut)).toMatchObject({
      differences: 3,
    });
  });
});

test('without a counterpart is not kept aside for ever, and is counted', () => {
  const packaged = numbered(25_000);
  const listed = packaged.map(({ sequence }) => at(sequence, 'other'));
  expect(compare(packaged, listed)).toMatchObject({ same: 0, differences: 25_000, where: ['1-25000'] });
});
