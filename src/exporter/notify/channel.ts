import type { StreamStatus } from '../../verifier/claims/claim.ts';
import type { SentRequest } from '../client/call.ts';
import type { ExportEvent } from '../export/events.ts';
import type { ExportResult } from '../export/run.ts';

/** A run that a command came to an end with. */
export interface NotifiedRun {
  runId: string;
  state: ExportResult['state'];
  outcome: string;
  /** Number of streams by status, and of those that were not exported. */
  streams: Partial<Record<StreamStatus, number>>;
  failed: number;
  entries: number;
  /** Total size of the bundles. */
  bytes: number;
}

/** End of a command. */
export interface CommandEnd {
  startedAt: Date;
  endedAt: Date;
  exitCode: number;
  /** A line or a few, without a secret. */
  summary: string;
  runs: readonly NotifiedRun[];
}

/** One way to tell others how a command goes. What fails in it is said, and changes nothing. */
export interface NotificationChannel {
  /** As output calls it; its address may be a secret, and is no part of this. */
  readonly name: string;
  /** @throws Error for what could not be told. */
  begin?(signal: AbortSignal): Promise<void>;
  /** @param runId null until it is planned. */
  listen?(event: ExportEvent, runId: string | null): void;
  /** @param streamId that it is about; null for one of the run. */
  request?(request: SentRequest, streamId: string | null): void;
  /** @param parent a trace as W3C writes it; null for the own one. */
  around?<T>(streamId: string, work: () => Promise<T>, parent: string | null): Promise<T>;
  /** W3C traceparent of the trace that this channel keeps. */
  readonly traceParent?: string;
  /** @throws Error for what could not be told. */
  end(end: CommandEnd, signal: AbortSignal): Promise<void>;
}

/** True where nobody has to look into it: what a month without entries ends with is no failure. */
export function isWell({ exitCode }: Pick<CommandEnd, 'exitCode'>): boolean {
  return exitCode === 0 || exitCode === 4;
}

export function toNotifiedRun({ record, state }: ExportResult): NotifiedRun {
  const streams: NotifiedRun['streams'] = {};
  let [entries, bytes] = [0, 0];
  for (const stream of record.streams) {
    streams[stream.status] = (streams[stream.status] ?? 0) + 1;
    entries += stream.entries;
    bytes += stream.bundle.bytes;
  }
  return {
    runId: record.run_id,
    state,
    outcome: record.outcome,
    streams,
    failed: record.failed.length,
    entries,
    bytes,
  };
}
