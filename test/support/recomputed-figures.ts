import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './process.ts';

/**
 * Figures of a run, recomputed from its files alone: the packages and transfer logs in its bundles, and the ledger. The
 * run record only maps bundles to streams. No code is shared with the reports.
 */

export interface StreamFigures {
  streamId: string;
  entries: number;
  /** Number of lines in the bundle's listing; null without one. */
  listed: number | null;
  first: EndFigures | null;
  last: EndFigures | null;
  receivedFrom: string;
  receivedTo: string;
  /** Sequence numbers of known missing entries. */
  missing: number[];
  /** Highest entry that a checkpoint with a token covers, and the number of entries after it. */
  anchoredThrough: number | null;
  afterAnchor: number | null;
  /** Days with entries, such as `2026-10-01`. */
  days: string[];
}

interface EndFigures {
  sequence: number;
  recorded: string;
  occurred: string;
}

export interface RunFigures {
  streams: StreamFigures[];
  entries: number;
  receivedFrom: string | null;
  receivedTo: string | null;
  /** Start of each export that received a stream. */
  exports: string[];
  /** Number of days without an entry, within the period or from the first entry to the export. */
  quietDays: number;
}

interface Package {
  entries: { sequence: number; timestamp: string; occurred_at?: string }[];
  checkpoints: { sequence: number; anchor: { token: string | null } }[];
}

interface Log {
  export_started_at: string;
  received_at: string;
  steps: { exchange?: { requested_at: string } }[];
}

/**
 * @param folder of the archive.
 * @param period in which days without an entry are counted; null for the time from the first entry to the export.
 * @param heads highest sequence number of each stream in the service at the latest export.
 */
export async function recomputeFigures(
  folder: string,
  runId: string,
  period: { from: string; to: string } | null,
  heads: Readonly<Record<string, number>>,
): Promise<RunFigures> {
  const record = JSON.parse(readFileSync(join(folder, 'runs', runId, 'run.json'), 'utf8'));
  const streams: StreamFigures[] = [];
  const exports = new Set<string>();
  for (const { bundle } of record.streams) {
    const zip = join(folder, bundle.key);
    const log: Log = JSON.parse(await fileIn(zip, 'data/transfer-log.json'));
    exports.add(log.export_started_at);
    streams.push(await figuresOf(zip, log, heads));
  }
  const days = new Set(streams.flatMap((stream) => stream.days));
  return {
    streams,
    entries: streams.reduce((sum, { entries }) => sum + entries, 0),
    receivedFrom: streams.map(({ receivedFrom }) => receivedFrom).sort()[0] ?? null,
    receivedTo:
      streams
        .map(({ receivedTo }) => receivedTo)
        .sort()
        .at(-1) ?? null,
    exports: [...exports].sort(),
    quietDays: countQuiet(days, period, [...exports].sort()[0] ?? ''),
  };
}

async function figuresOf(zip: string, log: Log, heads: Readonly<Record<string, number>>): Promise<StreamFigures> {
  const { entries, checkpoints }: Package = JSON.parse(await fileIn(zip, 'data/evidence.json'));
  const streamId = JSON.parse(await fileIn(zip, 'data/transfer-log.json')).stream_id;
  const listing = await fileIn(zip, 'data/listing.csv').catch(() => null);
  const sorted = entries.toSorted((a, b) => a.sequence - b.sequence);
  const [first, last] = [sorted[0], sorted.at(-1)];
  const there = new Set(sorted.map(({ sequence }) => sequence));
  const head = heads[streamId] ?? 0;
  const anchored = checkpoints.filter(({ anchor, sequence }) => anchor.token !== null && there.has(sequence));
  const through = anchored.length === 0 ? null : Math.max(...anchored.map(({ sequence }) => sequence));
  return {
    streamId,
    entries: entries.length,
    listed: listing === null ? null : listing.split('\n').filter((line) => line !== '').length,
    first: first === undefined ? null : endOf(first),
    last: last === undefined ? null : endOf(last),
    receivedFrom:
      log.steps.flatMap(({ exchange }) => (exchange === undefined ? [] : [exchange.requested_at])).sort()[0] ?? '',
    receivedTo: log.received_at,
    missing: first === undefined ? [] : numbers(first.sequence, head).filter((number) => !there.has(number)),
    anchoredThrough: through,
    afterAnchor: through === null ? null : sorted.filter(({ sequence }) => sequence > through).length,
    days: entries.map(({ timestamp }) => timestamp.slice(0, 10)),
  };
}

function endOf({ sequence, timestamp, occurred_at = '' }: Package['entries'][number]): EndFigures {
  return { sequence, recorded: timestamp, occurred: occurred_at };
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);
}

function countQuiet(days: ReadonlySet<string>, period: { from: string; to: string } | null, exported: string): number {
  const sorted = [...days].sort();
  const [from, to] = [period?.from.slice(0, 10) ?? sorted[0], period?.to.slice(0, 10) ?? exported.slice(0, 10)];
  if (from === undefined || to === undefined || days.size === 0) return 0;
  let quiet = 0;
  const end = period === null ? Date.parse(to) : Date.parse(to) - 1;
  for (let time = Date.parse(from); time <= end; time += 86_400_000)
    if (!days.has(new Date(time).toISOString().slice(0, 10))) quiet++;
  return quiet;
}

/** @param path below the bundle's only folder. */
async function fileIn(zip: string, path: string): Promise<string> {
  return run('unzip', ['-p', zip, `*/${path}`]);
}

/** Returns the ids of the runs in the ledger, and the head of each stream in its newest entry. */
export function ledgerOf(folder: string): { runs: string[]; heads: Record<string, number> } {
  const entries = readdirSync(join(folder, 'ledger'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, 'ledger', name), 'utf8')));
  const heads = entries.at(-1)?.heads ?? {};
  return {
    runs: entries.map(({ run_id }) => run_id),
    heads: Object.fromEntries(
      Object.entries(heads as Record<string, { sequence: number }>).map(([id, { sequence }]) => [id, sequence]),
    ),
  };
}
