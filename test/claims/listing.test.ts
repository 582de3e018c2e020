import { describe, expect, test } from 'vitest';
import { ListingMerge, type PackageCut } from '../../src/claims/listing.ts';
import type { ListedEntry } from '../../src/claims/packaged.ts';

const at = (sequence: number, digest = `d${sequence}`): ListedEntry => ({
  sequence,
  digest,
  timestamp: new Date(Date.UTC(2026, 9, 1, 0, 0, sequence)).toISOString(),
});
const numbered = (length: number) => Array.from({ length }, (_, index) => at(index + 1));
const NO_CUT: PackageCut = { madeAt: null, statedHead: null };

/** Compares in steps, as a package and a listing arrive; the listing is asked for as it is wanted. */
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
  const { same, differences, deviations } = merge.result();
  return { same, differences, where: deviations.map(({ sequence, from, to }) => sequence ?? `${from}-${to}`) };
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
  ['three behind the end of the package', ten.slice(0, 7), ten, 7, ['8-10']],
  ['three behind the end of the listing', ten, ten.slice(0, 7), 7, ['8-10']],
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

describe('what was recorded since need not be in the package', () => {
  const CUTS: [string, PackageCut, ListedEntry[], number][] = [
    ['by its time', { madeAt: at(9).timestamp, statedHead: null }, ten, 1],
    ['by its time, before its number', { madeAt: at(9).timestamp, statedHead: 10 }, ten, 1],
    ['by its number, where the service shows no times', { madeAt: null, statedHead: 8 }, ten, 1],
    [
      'by its number, where entries have no times',
      { madeAt: at(9).timestamp, statedHead: 9 },
      ten.map((one) => ({ ...one, timestamp: '' })),
      2,
    ],
    ['unless neither is known', NO_CUT, ten, 3],
  ];
  test.each(CUTS)('%s', (_words, cut, listed, missed) => {
    expect(compare(ten.slice(0, 7), listed, cut)).toMatchObject({ same: 7, differences: missed });
  });
});

test('without a counterpart is not kept aside for ever, and is counted', () => {
  const packaged = numbered(25_000);
  const listed = packaged.map(({ sequence }) => at(sequence, 'other'));
  expect(compare(packaged, listed)).toMatchObject({ same: 0, differences: 25_000, where: ['1-25000'] });
});
