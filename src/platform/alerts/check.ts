import { ADMINISTRATION_STREAM } from '../accounts/api.ts';
import { entriesOfStream } from '../audit/api.ts';
import type { Reader } from '../database/database.ts';
import type { CheckPlace, RowFinding } from '../open-module.ts';
import { unsealedRows } from '../rows.ts';
import { sealedChannels, sealedMessages } from './sealed-rows.ts';
import type { AlertTables } from './tables.ts';

/** Checks the seals of alert channels and of alerts, and that the channels in use follow from the recorded acts. */
export async function* checkAlerts({ database }: CheckPlace): AsyncGenerator<RowFinding> {
  yield* await database.snapshot(async (reader) => {
    const channels = reader.tables<AlertTables>().selectFrom('alerting_channels').select('alert_channel_id');
    const used = await channels.where('removed_at', 'is', null).execute();
    const inUse = new Set(used.map(({ alert_channel_id }) => alert_channel_id));
    return [
      ...(await unsealedRows(reader, [sealedChannels, sealedMessages])),
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
