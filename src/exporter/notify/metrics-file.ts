import { randomUUID } from 'node:crypto';
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { type Family, gauge, toExposition } from '../../core/exposition.ts';
import { type CommandEnd, isWell, type NotificationChannel } from './channel.ts';

const SUCCESS = 'evidence_export_last_success_timestamp_seconds';
/** Size limit of a metrics file that is read back. */
const MAX_BYTES = 64 * 1024;

/**
 * Writes metrics of the last export to a file for the textfile collector of Prometheus node_exporter. The file is
 * replaced by renaming, so no reader sees half of it. The time of the last success is kept when an export fails.
 */
export function metricsFile(path: string): NotificationChannel {
  return {
    name: 'metrics file',
    async end(end) {
      const lastSuccess = isWell(end) ? end.endedAt.getTime() / 1000 : await readLastSuccess(path);
      await replaceFile(path, toExposition(familiesOf(end, lastSuccess)));
    },
  };
}

function familiesOf({ startedAt, endedAt, exitCode, runs }: CommandEnd, lastSuccess: number | null): Family[] {
  const sum = (count: (run: CommandEnd['runs'][number]) => number) => runs.reduce((all, run) => all + count(run), 0);
  const statuses = [
    ...new Set(runs.flatMap(({ streams }) => Object.keys(streams))),
  ] as (keyof (typeof runs)[0]['streams'])[];
  return [
    gauge('evidence_export_last_start_timestamp_seconds', 'Start time of the last export.', startedAt.getTime() / 1000),
    gauge('evidence_export_last_end_timestamp_seconds', 'End time of the last export.', endedAt.getTime() / 1000),
    gauge('evidence_export_last_exit_code', 'Exit code of the last export; 0 and 4 mean success.', exitCode),
    ...(lastSuccess === null ? [] : [gauge(SUCCESS, 'End time of the last successful export.', lastSuccess)]),
    gauge(
      'evidence_export_last_streams',
      'Streams of the exported runs, by status.',
      statuses.map((status) => ({ labels: { status }, value: sum(({ streams }) => streams[status] ?? 0) })),
    ),
    gauge(
      'evidence_export_last_failed_streams',
      'Streams that were not exported.',
      sum(({ failed }) => failed),
    ),
    gauge(
      'evidence_export_last_entries',
      'Entries of the exported runs.',
      sum(({ entries }) => entries),
    ),
    gauge(
      'evidence_export_last_bundle_bytes',
      'Bytes of bundles of the exported runs.',
      sum(({ bytes }) => bytes),
    ),
  ];
}

async function readLastSuccess(path: string): Promise<number | null> {
  try {
    if ((await stat(path)).size > MAX_BYTES) return null;
    const [, value] = new RegExp(`^${SUCCESS} ([0-9.]+)$`, 'm').exec(await readFile(path, 'utf8')) ?? [];
    return value === undefined ? null : Number(value);
  } catch {
    // Either no export ran before, or monitoring notices that the metric is gone.
    return null;
  }
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}.tmp`;
  try {
    // Mode 0644: the collector runs as another user.
    await writeFile(draft, text, { flag: 'wx', mode: 0o644 });
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw new Error(`${path} could not be written (${(error as NodeJS.ErrnoException).code})`);
  }
}
