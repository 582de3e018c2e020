import type { Reader } from '../database/database.ts';
import type { Note } from '../jobs/delivery.ts';
import type { AlertedService, AlertStanding } from './api.ts';
import type { AlertState } from './enums.ts';
import type { AlertTables } from './tables.ts';

/** Records the delivery of an alert, at its message and in its service. */
export function noteStanding(alerted: AlertedService, clock: () => Date): Note {
  return async (transaction, messageId, { status, attempts }) => {
    const state = status === 'waiting' ? 'pending' : status;
    const delivered_at = state === 'delivered' ? clock().toISOString() : null;
    const messages = transaction.tables<AlertTables>().updateTable('alert_messages');
    const noted = messages.set({ state, attempts, delivered_at }).where('message_id', '=', messageId);
    const { subject_id } = await noted.returning('subject_id').executeTakeFirstOrThrow();
    const subject = { source: alerted.source, subject_id };
    await alerted.noteAlert(transaction, subject_id, () => readStanding(transaction, subject));
  };
}

async function readStanding(
  reader: Reader,
  { source, subject_id }: Pick<AlertTables['alert_messages'], 'source' | 'subject_id'>,
): Promise<AlertStanding> {
  const all = reader.tables<AlertTables>().selectFrom('alert_messages').select(['state', 'attempts']);
  const messages = await all.where('source', '=', source).where('subject_id', '=', subject_id).execute();
  return { state: stateOf(messages), attempts: Math.max(...messages.map(({ attempts }) => attempts)) };
}

/** The state over all channels: delivered to one, pending at one, or given up. */
function stateOf(messages: readonly Pick<AlertTables['alert_messages'], 'state'>[]): AlertState {
  const is = (state: AlertTables['alert_messages']['state']) => messages.some((message) => message.state === state);
  if (is('delivered')) return 'delivered';
  return is('pending') ? 'pending' : 'dead';
}
