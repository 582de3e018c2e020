import { createReadStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { EvidenceError, isEvidenceError } from '../../core/errors.ts';
import { measure } from '../../verifier/archive/archive.ts';
import { EVIDENCE } from '../../verifier/bundle/files.ts';
import { openBundle } from '../../verifier/bundle/read.ts';
import { PackageReader, type PackageReading } from '../../verifier/chain/package.ts';
import { digestAt, findAgreements, overlapOf } from '../../verifier/claims/overlap.ts';
import type { Span } from '../../verifier/claims/schemas.ts';
import { isPlaced, type Placed } from '../../verifier/claims/span.ts';
import { runRecordKey } from '../../verifier/records/keys.ts';
import { readFinalizedRun } from '../../verifier/records/stored-run.ts';
import type { ExportContext, RunState } from './context.ts';

/** Earlier spans of a stream for the continuity check. */
interface ComparedPast {
  /** Spans of earlier runs, oldest first. Each run is followed by the part that was read from its bundle, if any. */
  earlier: readonly Span[];
  /** Reasons that bundles could not be read, by run id. */
  unread: ReadonlyMap<string, string>;
}

/** Maximum number of earlier bundles opened for one stream. One is enough if the runs agree. */
const MAX_BUNDLES = 4;

/**
 * Returns the spans that earlier runs exported of a stream. If a run begins or ends elsewhere than the package, its
 * record cannot show that both have the same entries, so the common part is read from the run's bundle.
 *
 * @param folder for fetched bundles.
 */
export async function compareWithPast(
  context: ExportContext,
  { past }: Pick<RunState, 'past'>,
  { walk, defect }: PackageReading,
  folder: string,
): Promise<ComparedPast> {
  let earlier = past.spans.get(walk.streamId) ?? [];
  const unread = new Map<string, string>();
  if (defect !== null || walk.findings.errors('order') > 0) return { earlier, unread };
  for (let bundles = 0; ; bundles++) {
    const open = [...findAgreements(walk, earlier)].filter(([, how]) => how === null).map(([index]) => index);
    const index = open.findLast((one) => needsBundle(walk, earlier, one, unread));
    if (index === undefined) return { earlier, unread };
    const span = earlier[index] as Placed;
    if (bundles === MAX_BUNDLES) {
      unread.set(span.run_id, `${MAX_BUNDLES} other bundles were compared; the rest were skipped`);
      continue;
    }
    try {
      earlier = earlier.toSpliced(index + 1, 0, await readPart(context, past.runs, walk, span, folder));
    } catch (error) {
      if (!isEvidenceError(error, 'unreadable') && !isEvidenceError(error, 'not-found')) throw error;
      unread.set(span.run_id, error.message);
    }
  }
}

function needsBundle(
  walk: PackageReading['walk'],
  earlier: readonly Span[],
  index: number,
  unread: ReadonlyMap<string, string>,
): boolean {
  const span = earlier[index];
  if (span === undefined || !isPlaced(span) || unread.has(span.run_id)) return false;
  // A difference is already known, or this bundle was already read.
  const head = digestAt(walk, span.entries.head.sequence);
  return (head === undefined || head === span.entries.head.hash) && earlier[index + 1]?.run_id !== span.run_id;
}

/** @throws EvidenceError if the bundle is unavailable or not as recorded. */
async function readPart(
  context: ExportContext,
  runs: ReadonlyMap<string, string>,
  walk: PackageReading['walk'],
  span: Placed,
  folder: string,
): Promise<Span> {
  const both = overlapOf(walk, span);
  if (both === null) throw new TypeError('there is nothing to compare');
  const { first, last } = both;
  const { contract } = context.service;
  const byContent = !walk.bound || !span.entries.digests_bind;
  using reader = new PackageReader(contract, context.trust.sealKeys, {
    streamId: walk.streamId,
    compared: () => [{ first, last, byContent }],
  });
  await readBundle(context, runs, walk.streamId, span, folder, (chunk) => reader.push(chunk));
  const reading = reader.finish();
  const [previous, head] = [digestAt(reading.walk, first - 1), digestAt(reading.walk, last)];
  const isSound = reading.defect === null && reading.walk.findings.errors('order') === 0;
  if (!isSound || previous === undefined || head === undefined)
    throw new EvidenceError('unreadable', `its bundle cannot be read with the contract "${contract.name}"`);
  return {
    ...span,
    part: true,
    entries: {
      ...span.entries,
      first_sequence: first,
      head: { sequence: last, hash: head },
      previous_hash: previous,
      digests_bind: reading.walk.bound,
      entries_sha256: reading.walk.contents.get(`${first}-${last}`) ?? null,
    },
  };
}

/**
 * Passes the JSON form of an earlier bundle to `onChunk`, after checking the run record and the bundle by the ledger's
 * digests.
 */
async function readBundle(
  { archive, runtime: { signal } }: ExportContext,
  runs: ReadonlyMap<string, string>,
  streamId: string,
  { run_id }: Placed,
  folder: string,
  onChunk: (chunk: Uint8Array) => void,
): Promise<void> {
  signal.throwIfAborted();
  const run = await readFinalizedRun(archive, run_id);
  if (run === null || run.sha256 !== runs.get(run_id))
    throw new EvidenceError('unreadable', `${runRecordKey(run_id)} is not the record that the ledger names`);
  const stored = run.record.streams.find(({ stream_id }) => stream_id === streamId)?.bundle;
  if (stored === undefined) throw new EvidenceError('unreadable', `run ${run_id} has no bundle of the stream`);
  if (stored.encrypted !== undefined)
    throw new EvidenceError('unreadable', `its bundle is encrypted, and an export has no identity to decrypt it`);
  const place = join(folder, 'earlier');
  await mkdir(place, { recursive: true });
  try {
    const file = await archive.fetchFile(stored.key, place);
    const { sha256 } = await measure(createReadStream(file));
    if (sha256 !== stored.sha256)
      throw new EvidenceError('unreadable', `${stored.key} is not the bundle that was recorded`);
    const bundle = await openBundle(file, {}, stored.key);
    try {
      await bundle.checkIntegrity({
        onChunk: (path, chunk) => {
          if (path === EVIDENCE) onChunk(chunk);
        },
      });
    } finally {
      await bundle.close();
    }
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}
