import { sql } from 'kysely';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { newWebhookSecret } from '../../../src/core/webhook-signature.ts';
import { ACCOUNT_MIGRATIONS } from '../../../src/platform/accounts/migrations.ts';
import type { Alert, AlertTeller } from '../../../src/platform/alerts/api.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { migrate } from '../../../src/platform/database/migration.ts';
import { JOB_MIGRATIONS } from '../../../src/platform/jobs/migrations.ts';
import { migrateAll } from '../../../src/platform/migrations.ts';
import { SecretBox } from '../../../src/platform/secrets.ts';
import { TRAP_MIGRATIONS } from '../../../src/platform/traps/migrations.ts';
import { DATABASES, type DatabasePlace } from '../database/databases.ts';
import { AlertPlace, MINUTE } from './alert-place.ts';

const NOW = Date.now();
const at = (minutes: number) => new Date(NOW + minutes * MINUTE).toISOString();
const MASTER_KEY = Buffer.alloc(32, 7);

/** The form of the tables when traps alone told people. */
async function earlierForm(database: Database): Promise<void> {
  const ofTraps = Object.entries(TRAP_MIGRATIONS).filter(([name]) => name < 'traps/0003');
  await migrate(database, { ...ACCOUNT_MIGRATIONS, ...JOB_MIGRATIONS, ...Object.fromEntries(ofTraps) });
}

async function add(database: Database, table: string, row: object): Promise<void> {
  await database.write((transaction) =>
    transaction.tables<Record<string, object>>().insertInto(table).values(row).execute(),
  );
}

const TRAP = {
  credential_id: 'trap',
  credential_type: 'web_bug',
  plant_location: 'wiki',
  label: 'x',
  origin: 'fabricated',
  secret: Buffer.alloc(1),
  created_at: at(-99),
  detection_count: 0,
};

/** Of one webhook: told of `told`, not yet of `waiting`, and asked to try it. */
async function fillEarlier(database: Database, target: string): Promise<string> {
  const secret = newWebhookSecret();
  await add(database, 'api_keys', {
    key_id: 'a',
    sha256: 'a',
    name: 'a',
    scopes: 'traps:read traps:write',
    created_at: '',
  });
  await add(database, 'api_keys', {
    key_id: 'b',
    sha256: 'b',
    name: 'b',
    scopes: 'traps:read keys:read',
    created_at: '',
  });
  await add(database, 'api_keys', { key_id: 'c', sha256: 'c', name: 'c', scopes: 'audit:write', created_at: '' });
  await add(database, 'traps', TRAP);
  await add(database, 'alert_channels', {
    alert_channel_id: 'hook',
    kind: 'webhook',
    name: 'here',
    target,
    least_severity: 'low',
    created_at: at(-90),
    secret: new SecretBox(MASTER_KEY, 'traps/secrets').seal(Buffer.from(secret), 'hook'),
  });
  const message = (detection_id: string | null) => ({
    kind: 'traps/alert',
    payload: JSON.stringify({ alert_channel_id: 'hook', detection_id }),
    created_at: at(-5),
    due_at: at(-5),
    attempts: 0,
    status: 'waiting',
  });
  await add(database, 'outbox', { message_id: 'message-waiting', ...message('waiting') });
  await add(database, 'outbox', { message_id: 'message-test', ...message(null) });
  const common = { alert_channel_id: 'hook', trap_no: 1, severity: 'high', made_at: at(-10) };
  const told = { message_id: 'message-told', detection_id: 'told', source_ip: '192.0.2.1', depth: 'validated' };
  await add(database, 'alerts', { ...common, ...told, state: 'delivered', attempts: 2, delivered_at: at(-9) });
  const waiting = { message_id: 'message-waiting', detection_id: 'waiting', source_ip: null, depth: 'read' };
  await add(database, 'alerts', { ...common, ...waiting, state: 'pending', attempts: 0 });
  return secret;
}

describe.each(DATABASES)('what traps told before all services did, on %s', (_name, start) => {
  let databases: DatabasePlace;
  beforeAll(async () => {
    databases = await start();
  });
  afterAll(() => databases.close());

  test('is delivered, counts as told, and whoever might say who is told still may', async () => {
    const { database } = await databases.create();
    await earlierForm(database);
    const to = await AlertPlace.open(database, () => new Date(NOW), MASTER_KEY);
    try {
      const secret = await fillEarlier(database, `http://${to.host}/hook`);
      await migrateAll(database);
      const noted: unknown[] = [];
      const teller: AlertTeller = {
        source: 'traps',
        say: async ({ subject_id }) => ({ subject: '', sentence: '', facts: [], path: '', data: { subject_id } }),
        noteAlert: async (_transaction, subject, readStanding) => void noted.push([subject, await readStanding()]),
      };
      await to.deliveryFor(teller).deliverDue();
      for (const { body, headers } of to.receiver.received) new Webhook(secret).verify(body, headers);
      expect(
        to
          .told()
          .map(({ type, data }) => [type, data?.subject_id])
          .sort(),
      ).toEqual([
        ['alert.test', undefined],
        ['trap.used', 'waiting'],
      ]);
      expect(noted).toEqual([['waiting', { state: 'delivered', attempts: 1 }]]);
      const use = (address: string, level: number): Alert => ({
        source: 'traps',
        kind: 'trap.used',
        severity: 'high',
        subject_id: 'new',
        flood_key: 'trap',
        told_key: `trap ${address}`,
        level,
      });
      const tell = (alert: Alert) => database.write((transaction) => to.alerts.tell(transaction, alert));
      const states = [];
      for (const alert of [use('192.0.2.1', 2), use('192.0.2.1', 3), use('', 1), use('', 2)])
        states.push(await tell(alert));
      expect(states).toEqual(['suppressed', 'pending', 'suppressed', 'pending']);
      expect(await to.alerts.channels.list()).toMatchObject([{ name: 'here', sources: null, created_at: at(-90) }]);
      const keys = await sql<{ scopes: string }>`SELECT scopes FROM api_keys ORDER BY key_id`.execute(
        database.tables(),
      );
      expect(keys.rows.map(({ scopes }) => scopes)).toEqual([
        'traps:read traps:write alerts:read alerts:write',
        'traps:read keys:read alerts:read',
        'audit:write',
      ]);
    } finally {
      await to.close();
    }
  });
});
