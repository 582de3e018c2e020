import type { Json } from '../../core/json/canonical.ts';
import { type AlertState, isLess, SEVERITIES } from '../alert-enums.ts';
import type { Transaction } from '../database/database.ts';
import type { Outbox } from '../jobs/outbox.ts';
import type { Alert } from './alert.ts';
import { sealedChannels, sealedMessages } from './sealed-rows.ts';
import type { AlertTables } from './tables.ts';
import type { AlertSource } from './wire.ts';

/** Time in which further alerts of a group are suppressed, unless their level is higher. */
const COOLDOWN_MS = 60 * 60_000;
/** Maximum number of subjects of one flood key in an hour; a more severe one is still sent. */
const MOST_AN_HOUR = 20;

/** Returns the kind of a service's alerts in the outbox. */
export function outboxKindOf(source: AlertSource): string {
  return `${source}/alert`;
}

/** Kind of test alerts in the outbox. */
export const TEST_KIND = 'alerts/test';

/** Alert in the outbox; its subject is in `alert_messages`. */
export interface AlertMessage {
  alert_channel_id: string;
}

interface NotifyingDeps {
  outbox: Pick<Outbox, 'add'>;
  clock: () => Date;
}

/** Queues an alert: see `Alerts.notify`. */
export async function notify(
  transaction: Transaction,
  { outbox, clock }: NotifyingDeps,
  alert: Alert,
): Promise<AlertState> {
  const tables = transaction.tables<AlertTables>();
  const all = await tables.selectFrom('alerting_channels').selectAll().where('removed_at', 'is', null).execute();
  // An alert for a channel that was changed is not sent, and then listed among the undelivered messages.
  const wanting = all.filter((channel) => !sealedChannels.isWhole(transaction, channel) || wants(channel, alert));
  if (wanting.length === 0) return 'none';
  const now = clock();
  if (await isEnough(transaction, alert, now)) return 'suppressed';
  const made_at = now.toISOString();
  for (const { alert_channel_id } of wanting) {
    const payload: AlertMessage = { alert_channel_id };
    const message_id = await outbox.add(transaction, outboxKindOf(alert.source), payload as unknown as Json);
    const message = {
      ...alert,
      message_id,
      alert_channel_id,
      made_at,
      state: 'pending' as const,
      attempts: 0,
      delivered_at: null,
    };
    await tables.insertInto('alert_messages').values(sealedMessages.sealed(transaction, message)).execute();
  }
  return 'pending';
}

function wants(
  { least_severity, sources }: Pick<AlertTables['alerting_channels'], 'least_severity' | 'sources'>,
  { severity, source }: Alert,
): boolean {
  return !isLess(severity, least_severity) && (sources === null || sources.split(' ').includes(source));
}

/**
 * Reports whether earlier alerts cover this one: a delivered one of its group, at the same or a higher level, or the
 * maximum of recent ones with its flood key that are at least as severe.
 */
async function isEnough(
  transaction: Transaction,
  { source, group_key, level, flood_key, severity }: Alert,
  now: Date,
): Promise<boolean> {
  const since = new Date(now.getTime() - COOLDOWN_MS).toISOString();
  const messages = transaction
    .tables<AlertTables>()
    .selectFrom('alert_messages')
    .selectAll()
    .where('source', '=', source);
  const told = messages
    .where('group_key', '=', group_key)
    .where('delivered_at', '>', since)
    .where('level', '>=', level);
  // Rows written outside the platform suppress nothing.
  const isWhole = (row: AlertTables['alert_messages']) => sealedMessages.isWhole(transaction, row);
  if ((await told.execute()).some(isWhole)) return true;
  const asBad = SEVERITIES.filter((each) => !isLess(each, severity));
  const lately = messages.where('flood_key', '=', flood_key).where('made_at', '>', since);
  const rows = (await lately.where('severity', 'in', asBad).execute()).filter(isWhole);
  return new Set(rows.map(({ subject_id }) => subject_id)).size >= MOST_AN_HOUR;
}
