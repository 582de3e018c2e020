import { ADMINISTRATION_STREAM } from '../accounts/api.ts';
import { entriesOfStream } from '../audit/api.ts';
import type { Reader } from '../database/database.ts';
import type { CheckPlace, RowFinding } from '../open-module.ts';
import { sealedChannels } from './channel-rows.ts';
import type { AlertTables } from './tables.ts';

/** Checks the seals of alert channels, and that the channels in use follow from the recorded acts. */
export async function* checkAlerts({ database }: CheckPlace): AsyncGenerator<RowFinding> {
  yield* await database.snapshot(async (reader) => {
    const channels = await reader.tables<AlertTables>().selectFrom('alerting_channels').selectAll().execute();
    const changed = channels.filter((row) => !sealedChannels.isWhole(reader, row));
    const inUse = new Set(channels.flatMap((row) => (row.removed_at === null ? [row.alert_channel_id] : [])));
    return [
      ...changed.map((row) => ({ code: 'row_seal_mismatch', of: `alerting_channels ${row.alert_channel_id}` })),
      ...(await missingChannels(reader, inUse)),
    ];
  });
}

async function missingChannels(reader: Reader, inUse: ReadonlySet<string>): Promise<RowFinding[]> {
  const due = new Map<string, number>();
  for await (const { action, resource_id, sequence } of entriesOfStream(reader, ADMINISTRATION_STREAM)) {
    if (action === 'alert_channel.added') due.set(resource_id, sequence);
    if (action === 'alert_channel.removed') due.delete(resource_id);
  }
  const missing = [...due].filter(([id]) => !inUse.has(id));
  const of = (id: string, entry: number) => `alert channel ${id} of entry ${entry} of ${ADMINISTRATION_STREAM}`;
  return missing.map(([id, entry]) => ({ code: 'row_missing', of: of(id, entry) }));
}
