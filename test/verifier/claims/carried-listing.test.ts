import { describe, expect, test } from 'vitest';
import { PackageReader } from '../../../src/verifier/chain/package.ts';
import { ListingMerge, type PackageCut } from '../../../src/verifier/claims/listing.ts';
import { CarriedListing, LineReader, lineOf } from '../../../src/verifier/claims/listing-text.ts';
import { defaultContract } from '../../../src/verifier/reading/default-contract.ts';
import { chainOf, packageOf, type SentEntry, STREAM } from '../../support/chain.ts';

const chain = chainOf(300);
const PACKAGED = 290;
/** Time of the package request; entries from 296 on are later. */
const asked = Date.parse(chain[295]?.timestamp ?? '');
const CUT: PackageCut = { askedAt: asked, askedAtByService: asked, statedHead: null, latest: Number.MAX_SAFE_INTEGER };
const textOf = (entries: readonly SentEntry[], from = Number.POSITIVE_INFINITY) =>
  entries
    .map(({ sequence, hash: digest, timestamp }) =>
      lineOf({ sequence, digest, timestamp }, { withTime: sequence > from }),
    )
    .join('');
const first = (count: number) => chain.slice(0, count);
const other = { ...(chain[100] as SentEntry), hash: 'f'.repeat(64) };

/** Compares entry by entry, as the export does. */
function merged(text: string) {
  const merge = new ListingMerge(STREAM);
  for (const { sequence, hash: digest, timestamp } of first(PACKAGED))
    merge.fromPackage({ sequence, digest, timestamp });
  merge.endPackage(CUT);
  merge.fromListing(new LineReader().push(Buffer.from(text)));
  merge.endListing();
  return merge.result();
}

function carried(text: string, block: number) {
  const listing = new CarriedListing(STREAM, CUT);
  const { onEntry, onRun } = listing.observer;
  using reader = new PackageReader(defaultContract, new Map(), { streamId: STREAM, onEntry, onRun });
  reader.push(Buffer.from(JSON.stringify(packageOf(first(PACKAGED)))));
  reader.finish();
  listing.endPackage();
  for (let at = 0; at < text.length; at += block) listing.push(Buffer.from(text.slice(at, at + block)));
  return listing.finish();
}

describe.each([1 << 20, 97, 1])('a listing in blocks of %d bytes', (block) => {
  test.each([
    ['with the same entries', textOf(first(PACKAGED))],
    ['with entries that came later', textOf(chain.slice(0, PACKAGED).concat(chain.slice(296)), PACKAGED)],
    ['with entries that the package should have', textOf(chain, PACKAGED)],
    ['with entries after it that have no time', textOf(chain)],
  ])('%s, is compared as an export does', (_words, text) => {
    expect(carried(text, block)).toEqual(merged(text));
  });

  test.each([
    ['that lacks an entry', textOf(first(PACKAGED).toSpliced(50, 1))],
    ['that lacks the last', textOf(first(PACKAGED - 1))],
    ['with another digest', textOf(first(PACKAGED).with(100, other))],
    ['without an entry', ''],
  ])('%s, is for who merges entry by entry', (_words, text) => {
    expect(carried(text, block)).toBeNull();
  });

  test.each([
    ['a last line without an end', `${textOf(first(PACKAGED))}291,${'a'.repeat(64)}`],
    ['what is no line', `${textOf(first(PACKAGED))}all is well\n`],
    ['a number that is none', `${textOf(first(PACKAGED))}0291,${'a'.repeat(64)}\n`],
    ['a line that never ends', textOf(first(PACKAGED)) + '1'.repeat(3000)],
  ])('with %s, cannot be read', (_words, text) => {
    expect(() => carried(text, block)).toThrow(/is no line of a listing/);
  });
});
