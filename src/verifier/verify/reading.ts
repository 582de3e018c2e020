import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import type { Bundle } from '../bundle/bundle.ts';
import type { BundleFinding } from '../bundle/bundle-finding.ts';
import type { Verification } from '../bundle/documents.ts';
import { LISTING } from '../bundle/files.ts';
import type { FileDigest } from '../bundle/integrity.ts';
import { asPart, type PackageExpectation, PackageReader, type PackageReading } from '../chain/package.ts';
import type { ComparedSection } from '../chain/walk.ts';
import { entriesBeside } from '../claims/completeness.ts';
import { ListingMerge, type ListingResult, type PackageCut } from '../claims/listing.ts';
import { CarriedListing, LineReader } from '../claims/listing-text.ts';
import type { ListedEntry } from '../claims/packaged.ts';
import { lookOut } from '../claims/past.ts';
import type { SealKeys } from '../model/entry.ts';
import type { Contract } from '../reading/contract.ts';

/** Receives entries, and makes the reading wait until they are processed. */
export interface EntryWatch extends Required<Pick<PackageExpectation, 'onEntry' | 'onSent'>> {
  catchUp(): Promise<void>;
}

/** Options for reading the package in a bundle. */
interface ReadingOptions {
  contract: Contract;
  sealKeys: SealKeys;
  expected: PackageExpectation;
  /** Path of the whole JSON form; undefined if there is none, or only a part. */
  whole: string | undefined;
  /** Path of a part of the JSON form. */
  part: string | undefined;
  /** Limits for comparing the bundle's listing; null if the bundle has none. */
  cut: PackageCut | null;
  /** Receives the entries of a whole package, too; null for none. */
  watch: EntryWatch | null;
}

export interface BundleReading {
  reading: PackageReading;
  /** All files that could be read, by path. */
  files: ReadonlyMap<string, FileDigest>;
  broken: BundleFinding[];
  /** Comparison with the bundle's listing; null if the bundle has none that can be read. */
  listing: ListingResult | null;
  /** Error that made the listing unreadable. */
  unreadable: EvidenceError | null;
}

/** Reads a bundle from its first byte to its last, and walks the chain over the same bytes whose digest is checked. */
export async function readThrough(bundle: Bundle, options: ReadingOptions): Promise<BundleReading> {
  const { contract, sealKeys, expected, whole, part, cut, watch } = options;
  const carried = cut === null || whole === undefined ? null : new CarriedListing(expected.streamId ?? '', cut);
  using reader = new PackageReader(contract, sealKeys, { ...expected, ...observerOf(carried, watch) });
  const files = new Map<string, FileDigest>();
  let read: PackageReading | null = null;
  const broken = await bundle.checkIntegrity({
    onChunk: (path, chunk) => {
      if (path === LISTING) carried?.push(chunk);
      if (path !== (whole ?? part)) return;
      reader.push(chunk);
      return watch?.catchUp();
    },
    onEnd: (path, file) => {
      files.set(path, file);
      if (path !== whole) return;
      read ??= reader.finish();
      carried?.endPackage();
    },
  });
  read ??= reader.finish();
  const reading = whole === undefined ? asPart(read, 'it was not delivered whole') : read;
  const isComparable = broken.length === 0 && reading.defect === null && files.has(LISTING);
  if (carried === null || !isComparable) return { reading, files, broken, listing: null, unreadable: null };
  try {
    const listing = carried.finish() ?? (await merge(bundle, options));
    return { reading, files, broken, listing, unreadable: null };
  } catch (error) {
    if (!isEvidenceError(error)) throw error;
    return { reading, files, broken, listing: null, unreadable: error };
  }
}

function observerOf(carried: CarriedListing | null, watch: EntryWatch | null): Partial<PackageExpectation> {
  if (watch === null) {
    if (carried === null) return {};
    const { onEntry, onRun } = carried.observer;
    return { onEntry, onRun };
  }
  return {
    onEntry: (entry) => {
      carried?.observer.onEntry(entry);
      watch.onEntry(entry);
    },
    onSent: (entries) => {
      carried?.observer.onSent(entries);
      watch.onSent(entries);
    },
  };
}

/**
 * Compares package and listing entry by entry, as an export does while both arrive. @throws EvidenceError `unreadable`.
 */
async function merge(bundle: Bundle, { contract, expected, whole, cut }: ReadingOptions): Promise<ListingResult> {
  if (whole === undefined || cut === null) throw new TypeError('there is nothing to compare');
  const { streamId = '' } = expected;
  const both = new ListingMerge(streamId, { matched: () => {}, listed: refuseTime });
  const lines = linesOf(bundle);
  const catchUp = async () => {
    while (both.wantsListing) {
      const { done, value } = await lines.next();
      if (done === true) both.endListing();
      else both.fromListing(value);
    }
  };
  using reader = new PackageReader(contract, new Map(), { streamId, onEntry: (entry) => both.fromPackage(entry) });
  for await (const block of bundle.blocksOf(whole)) {
    reader.push(block);
    await catchUp();
  }
  reader.finish();
  both.endPackage(cut);
  await catchUp();
  return both.result();
}

/** Refuses a time on the line of an entry before the package's end, which is written without one. */
function refuseTime({ sequence, isWithin }: ListedEntry, isBehind: boolean): void {
  if (isBehind || isWithin === true) return;
  throw new EvidenceError(
    'unreadable',
    `the line of entry ${sequence} has a time, and stands before the package's end`,
  );
}

async function* linesOf(bundle: Bundle) {
  const reader = new LineReader();
  for await (const block of bundle.blocksOf(LISTING)) yield reader.push(block);
  reader.finish();
}

/** Returns the questions that the claims ask of the entries, and the expected package. */
export function expectationOf(stated: Verification | null, compared: readonly ComparedSection[]): PackageExpectation {
  if (stated === null) return { compared: () => compared };
  const { verdict, statement, earlier, accepted_restarts: restarts, package_period: period } = stated;
  const look = lookOut(
    () => ({ earlier, restarts }),
    period,
    () => entriesBeside(statement.head.sequence),
  );
  return {
    streamId: verdict.stream_id,
    ...(verdict.package_id === null ? {} : { packageId: verdict.package_id }),
    ...look,
    compared: (streamId) => [...look.compared(streamId), ...compared],
  };
}
