import type { Json } from '../../../core/json/canonical.ts';
import type { Transaction } from '../../database/database.ts';
import type { Outbox } from '../../jobs/outbox.ts';
import type { Detection, Trap } from '../repository.ts';
import { isDeeper } from '../rules.ts';
import type { AlertTable, TrapTables } from '../schema.ts';
import { type AlertState, type DetectionSeverity, SEVERITIES } from '../words.ts';

/** Whoever was told of a trap and an address is not told of less again for so long. */
const COOLDOWN_MS = 60 * 60_000;
/** So many detections of one trap are told in an hour; a worse one is told still. */
const MOST_AN_HOUR = 20;

/** The kind of alerts in the outbox. */
export const ALERT_KIND = 'traps/alert';

/** An alert in the outbox. What it says is read when it is sent. */
export interface AlertMessage {
  alert_channel_id: string;
  /** Null for one by which somebody tries the channel. */
  detection_id: string | null;
}

export interface AlertingMeans {
  outbox: Pick<Outbox, 'add'>;
  clock: () => Date;
}

/**
 * Has people told of a detection by every channel that wants it, in the transaction that has it.
 * @returns how its alert stands.
 */
export async function alertOf(
  transaction: Transaction,
  { outbox, clock }: AlertingMeans,
  detection: Detection,
  { trap_no }: Trap,
): Promise<AlertState> {
  const tables = transaction.tables<TrapTables>();
  const all = await tables.selectFrom('alert_channels').selectAll().where('removed_at', 'is', null).execute();
  const wanting = all.filter(({ least_severity }) => !isLess(detection.severity, least_severity));
  if (wanting.length === 0) return 'none';
  const made_at = clock().toISOString();
  if (await isEnough(transaction, detection, trap_no, clock().getTime())) return 'suppressed';
  const { detection_id, source_ip, depth, severity } = detection;
  for (const { alert_channel_id } of wanting) {
    const payload: AlertMessage = { alert_channel_id, detection_id };
    const message_id = await outbox.add(transaction, ALERT_KIND, payload as unknown as Json);
    const alert: AlertTable = {
      ...{ message_id, alert_channel_id, detection_id, trap_no, source_ip, depth, severity, made_at },
      ...{ state: 'pending', attempts: 0, delivered_at: null },
    };
    await tables.insertInto('alerts').values(alert).execute();
  }
  return 'pending';
}

/** Whether people know of it already. Only what was delivered counts as told. */
async function isEnough(
  transaction: Transaction,
  { depth, severity, source_ip }: Detection,
  trapNo: number,
  now: number,
): Promise<boolean> {
  const since = new Date(now - COOLDOWN_MS).toISOString();
  const alerts = transaction.tables<TrapTables>().selectFrom('alerts').where('trap_no', '=', trapNo);
  const same = source_ip === null ? alerts.where('source_ip', 'is', null) : alerts.where('source_ip', '=', source_ip);
  const told = await same.select('depth').where('delivered_at', '>', since).execute();
  if (told.some((alert) => !isDeeper(depth, alert.depth))) return true;
  const asBad = SEVERITIES.filter((each) => !isLess(each, severity));
  const lately = alerts.where('made_at', '>', since).where('severity', 'in', asBad);
  const detections = await lately.select('detection_id').distinct().limit(MOST_AN_HOUR).execute();
  return detections.length >= MOST_AN_HOUR;
}

function isLess(severity: DetectionSeverity, than: DetectionSeverity): boolean {
  return SEVERITIES.indexOf(severity) < SEVERITIES.indexOf(than);
}
