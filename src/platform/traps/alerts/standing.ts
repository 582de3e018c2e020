import type { Note } from '../../jobs/delivery.ts';
import { nextChange } from '../repository.ts';
import type { AlertTable, TrapTables } from '../schema.ts';
import type { AlertState } from '../words.ts';

/** Notes how an alert stands, at the alert and at its detection. One that tries a channel is at neither. */
export function noteAlert(clock: () => Date): Note {
  return async (transaction, messageId, { status, attempts }) => {
    const tables = transaction.tables<TrapTables>();
    // First of all: whoever records has it too.
    const change_no = await nextChange(transaction);
    const state = status === 'waiting' ? 'pending' : status;
    const delivered_at = state === 'delivered' ? clock().toISOString() : null;
    const changed = tables.updateTable('alerts').set({ state, attempts, delivered_at });
    const alert = await changed.where('message_id', '=', messageId).returning('detection_id').executeTakeFirst();
    if (alert === undefined) return;
    const { detection_id } = alert;
    const all = await tables.selectFrom('alerts').selectAll().where('detection_id', '=', detection_id).execute();
    const alert_attempts = Math.max(...all.map((each) => each.attempts));
    const detections = tables
      .updateTable('detections')
      .set({ change_no, alert_state: standingOf(all), alert_attempts });
    await detections.where('detection_id', '=', detection_id).execute();
  };
}

/** Somebody was told, or is to be told, or nobody will be. */
function standingOf(alerts: readonly Pick<AlertTable, 'state'>[]): AlertState {
  const is = (state: AlertTable['state']) => alerts.some((alert) => alert.state === state);
  if (is('delivered')) return 'delivered';
  return is('pending') ? 'pending' : 'dead';
}
