import type { StreamStatus } from '../../verifier/claims/claim.ts';
import type { SentRequest } from '../client/call.ts';
import type { ExportEvent } from '../export/events.ts';
import type { ExportResult } from '../export/run.ts';

/** Run that a command ended with. */
export interface NotifiedRun {
  runId: string;
  state: ExportResult['state'];
  outcome: string;
  /** Number of streams by status; streams that were not exported count in `failed`. */
  streams: Partial<Record<StreamStatus, number>>;
  failed: number;
  entries: number;
  /** Total size of the bundles. */
  bytes: number;
}

/** Outcome of a command. */
export interface CommandEnd {
  startedAt: Date;
  endedAt: Date;
  exitCode: number;
  /** One or a few lines, without secrets. */
  summary: string;
  runs: readonly NotifiedRun[];
}

/** One channel for notifications about a command. A failure is reported and has no other effect. */
export interface NotificationChannel {
  /** Name in the output. The address may be a secret and is not part of it. */
  readonly name: string;
  /** @throws Error if the notification could not be sent. */
  begin?(signal: AbortSignal): Promise<void>;
  /** @param runId null until the run is planned. */
  listen?(event: ExportEvent, runId: string | null): void;
  /** @param streamId that the request is about; null for a request of the run. */
  request?(request: SentRequest, streamId: string | null): void;
  /** @param parent W3C traceparent of another trace; null for the channel's trace. */
  around?<T>(streamId: string, work: () => Promise<T>, parent: string | null): Promise<T>;
  /** W3C traceparent of the trace that this channel records. */
  readonly traceParent?: string;
  /** @throws Error if the notification could not be sent. */
  end(end: CommandEnd, signal: AbortSignal): Promise<void>;
}

/** Reports whether the end needs no attention: exit code 4, for a month without entries, is not a failure. */
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
