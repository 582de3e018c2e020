import { ADMINISTRATION_STREAM } from '../accounts/api.ts';
import { entriesOfStream } from '../audit/api.ts';
import type { Reader } from '../database/database.ts';
import type { CheckPlace, RowFinding } from '../open-module.ts';
import { sealedChannels, sealedMessages } from './sealed-rows.ts';
import type { AlertTables } from './tables.ts';

/** Checks the seals of alert channels and of alerts, and that the channels in use follow from the recorded acts. */
export async function* checkAlerts({ database }: CheckPlace): AsyncGenerator<RowFinding> {
  yield* await database.snapshot(async (reader) => {
    const tables = reader.tables<AlertTables>();
    const channels = await tables.selectFrom('alerting_channels').selectAll().execute();
    const messages = await tables.selectFrom('alert_messages').selectAll().execute();
    const changed = channels.filter((row) => !sealedChannels.isWhole(reader, row));
    const edited = messages.filter((row) => !sealedMessages.isWhole(reader, row));
    const inUse = new Set(channels.flatMap((row) => (row.removed_at === null ? [row.alert_channel_id] : [])));
    return [
      ...changed.map((row) => ({ code: 'row_seal_mismatch', of: `alerting_channels ${row.alert_channel_id}` })),
      ...edited.map((row) => ({ code: 'row_seal_mismatch', of: `alert_messages ${row.message_id}` })),
      ...(await contradictedChannels(reader, inUse)),
    ];
  });
}

/** Compares the channels in use with those that acts added and did not remove. */
async function contradictedChannels(reader: Reader, inUse: ReadonlySet<string>): Promise<RowFinding[]> {
  const due = new Map<string, { isDue: boolean; entry: number }>();
  for await (const { action, resource_id, sequence: entry } of entriesOfStream(reader, ADMINISTRATION_STREAM)) {
    if (action === 'alert_channel.added') due.set(resource_id, { isDue: true, entry });
    if (action === 'alert_channel.removed') due.set(resource_id, { isDue: false, entry });
  }
  const wrong = [...due].filter(([id, { isDue }]) => isDue !== inUse.has(id));
  return wrong.map(([id, { isDue, entry }]) => ({
    code: isDue ? 'row_missing' : 'row_unrecorded',
    of: `alert channel ${id} of entry ${entry} of ${ADMINISTRATION_STREAM}`,
  }));
}
