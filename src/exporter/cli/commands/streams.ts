import { grouped } from '../../../core/plurals.ts';
import { styled } from '../../../core/terminal/printer.ts';
import {
  fitTable,
  formatTable,
  type TerminalColumn,
  terminalColumns,
  widthOfTable,
} from '../../../core/terminal/table.ts';
import { readNewestEntry } from '../../../verifier/ledger/ledger.ts';
import type { StreamAnswer } from '../../../verifier/profile/answers.ts';
import type { LedgerHead } from '../../../verifier/records/record.ts';
import type { CommandContext } from '../command.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { connectService } from '../config/service.ts';
import { withArchiveIfAny } from '../config/stores.ts';
import type { FlagsOf } from './flags-of.ts';

/**
 * Lists the service's streams as it states them, how far each was exported, and where the two conflict. Nothing is
 * verified; an export does that.
 */
export async function runStreams(flags: FlagsOf<'streams'>, context: CommandContext): Promise<number> {
  const { printer, signal, directory, environment } = context;
  const config = await loadConfig(flags, environment, directory);
  await using service = connectService(config.source, printer, signal);
  const heads = new Map(await readHeads(config, context));
  const streams: StreamAnswer[] = [];
  for await (const stream of service.client.listStreams()) streams.push(stream);
  const listed = new Set(streams.map(({ streamId }) => streamId));
  const gone = [...heads].filter(([streamId]) => !listed.has(streamId));
  const remarks = new Map([
    ...streams.flatMap((stream) => remarkOn(stream, heads.get(stream.streamId))),
    ...gone.map(([streamId, head]) => [streamId, `is no longer listed; ${exportedBy(head)}`] as const),
  ]);
  printer.document('evidence-streams/1', {
    streams: streams.map((stream) => ({
      stream_id: stream.streamId,
      entry_count: stream.entryCount,
      head_sequence: stream.headSequence,
      head_hash: stream.headDigest,
      verified: stream.verified,
      last_checked_at: stream.lastCheckedAt,
      drift: stream.drift,
      last_exported: heads.get(stream.streamId) ?? null,
      remark: remarks.get(stream.streamId) ?? null,
    })),
    not_listed: gone.map(([stream_id, last_exported]) => ({ stream_id, last_exported })),
  });
  printer.block(streams.length === 0 ? 'The service has no streams.' : formatStreams(streams, heads));
  for (const [streamId, remark] of remarks) printer.result([styled('remark', 'yellow'), ` ${streamId} ${remark}`]);
  if (remarks.size > 0)
    printer.result(
      '  The next export compares this with the earlier export, and records it as refuted if it persists.',
    );
  return streams.length === 0 ? 4 : 0;
}

function readHeads(config: Config, context: CommandContext): Promise<Iterable<[streamId: string, head: LedgerHead]>> {
  return withArchiveIfAny(config.archive, context, async (archive) => {
    const newest = archive === null ? null : await readNewestEntry(archive);
    return newest?.entry.heads ?? [];
  });
}

/** Returns a remark if the service's statement about a stream contradicts the exported head; none otherwise. */
function remarkOn({ streamId, headSequence, headDigest }: StreamAnswer, exported: LedgerHead | undefined) {
  if (exported === undefined || headSequence === null) return [];
  const remark = (says: string): [string, string][] => [[streamId, `${says}; ${exportedBy(exported)}`]];
  if (headSequence < exported.sequence) return remark(`is listed only up to entry ${headSequence}`);
  const isOther = headSequence === exported.sequence && headDigest !== null && headDigest !== exported.hash;
  return isOther ? remark(`is listed with a different entry ${headSequence}`) : [];
}

function exportedBy({ run_id, sequence }: LedgerHead): string {
  return `run ${run_id} exported it up to entry ${sequence}`;
}

/**
 * Formats the streams as the service lists them, with how far each was exported.
 * @param columns of the terminal; if it is too narrow for digests, heads are shown as sequence numbers.
 */
export function formatStreams(
  streams: readonly StreamAnswer[],
  heads: ReadonlyMap<string, LedgerHead>,
  columns = terminalColumns(),
): string {
  const wide = formatTable(COLUMNS, toRows(streams, heads, describeHead));
  if (widthOfTable(wide) <= columns) return wide;
  return fitTable(
    COLUMNS,
    toRows(streams, heads, ({ headSequence }) => String(headSequence ?? UNKNOWN)),
    columns,
  );
}

const COLUMNS: readonly TerminalColumn[] = [
  { title: 'stream' },
  { title: 'entries', align: 'right' },
  { title: 'service says' },
  { title: 'last checked', isUncut: true },
  { title: 'head' },
  { title: 'exported to' },
];

function toRows(
  streams: readonly StreamAnswer[],
  heads: ReadonlyMap<string, LedgerHead>,
  headOf: (stream: StreamAnswer) => string,
): string[][] {
  return streams.map((stream) => {
    const exported = heads.get(stream.streamId);
    return [
      stream.streamId,
      stream.entryCount == null ? UNKNOWN : grouped(stream.entryCount),
      stream.drift ?? describeVerdict(stream),
      stream.lastCheckedAt === null ? UNKNOWN : toMinute(stream.lastCheckedAt),
      headOf(stream),
      exported === undefined ? 'never' : `${exported.sequence}, by ${exported.run_id}`,
    ];
  });
}

/** Formats a time to the minute; an unreadable time is shown as stated. */
function toMinute(time: string): string {
  const read = new Date(time);
  return Number.isNaN(read.getTime()) ? time : `${read.toISOString().slice(0, 16).replace('T', ' ')}Z`;
}

/** Mark for a value that the service does not provide. */
const UNKNOWN = '–';

/** Distinguishes a stream that failed the service's check from one that the service never checked. */
function describeVerdict({ verified, lastCheckedAt, neverChecked }: StreamAnswer): string {
  if (verified === null) return UNKNOWN;
  if (verified) return 'verified';
  if (neverChecked) return 'never checked';
  return lastCheckedAt === null ? 'not verified' : 'checked, not verified';
}

function describeHead({ headSequence, headDigest }: StreamAnswer): string {
  if (headSequence === null && headDigest === null) return UNKNOWN;
  if (headDigest === null) return headSequence === 0 ? 'none' : String(headSequence);
  return `${headSequence ?? ''}:${headDigest.slice(0, 12)}…`;
}
