import { randomUUID } from 'node:crypto';
import { ownAct } from '../../../../src/platform/accounts/administration.ts';
import { lettersInto } from '../../../../src/platform/accounts/letters.ts';
import { insertPasskey } from '../../../../src/platform/accounts/person-rows.ts';
import { waitForApproval } from '../../../../src/platform/accounts/sign-ups.ts';
import type { AccountTables } from '../../../../src/platform/accounts/tables.ts';
import { notify } from '../../../../src/platform/alerts/notifying.ts';
import type { Parts } from '../../../../src/platform/parts.ts';
import { fill, type Service } from '../../service.ts';
import { SOMEBODY } from '../../world.ts';

const EMAIL = 'ada@example.com';

/** Makes the platform write rows into every table of the accounts, alerts and audit services. */
export async function fillTables(service: Service, parts: Parts): Promise<void> {
  await fillAudit(service);
  await fillAccounts(service, parts);
  await fillAlerts(service, parts);
}

async function fillAudit(service: Service): Promise<void> {
  await fill(service, 's', 100);
  await post(service, '/streams/s/checkpoints');
  await post(service, '/streams/s/verify');
  const { package_id } = await post(service, '/evidence/generate', { stream_id: 's' });
  for (const form of ['json', 'pdf']) await service.call('GET', `/evidence/${package_id}/${form}`);
}

async function fillAccounts(service: Service, { database, clock, outbox, administration, accounts }: Parts) {
  await post(service, '//keys/', { name: 'k', scopes: ['audit:read'] });
  const owner = { email: EMAIL, name: 'Ada', password: 'a long enough password', network: '::', browser: 'Firefox' };
  const { personId: person_id } = await accounts.joining.bootstrap(owner, async () => {});
  await accounts.credentials.resetLink(SOMEBODY, EMAIL);
  const created_at = clock().toISOString();
  const passkey = { passkey_id: randomUUID(), credential_id: 'c', name: 'laptop', public_key: Buffer.from('key') };
  const used = { counter: 0, transports: '[]', created_at, last_used_at: null };
  await database.write(async (transaction) => {
    const signUp = { email: 'bob@example.com', name: 'Bob', password: 'hash' };
    await waitForApproval(transaction, signUp, { clock, letters: lettersInto(outbox), administration });
    await insertPasskey(transaction, { ...passkey, ...used, person_id });
    const added = { kind: 'passkey', passkey_id: passkey.passkey_id };
    await administration.record(transaction, ownAct(person_id, 'second_factor.added', added));
    const tables = transaction.tables<AccountTables>();
    const failure = { subject: `account ${EMAIL}`, failures: 3, forgiven_at: created_at };
    await tables.insertInto('failed_attempts').values(failure).execute();
    await tables.insertInto('spent_challenges').values({ sha256: 'digest', until: created_at }).execute();
  });
}

async function fillAlerts(service: Service, { database, clock }: Parts): Promise<void> {
  await post(service, '//alerts/channels', {
    kind: 'email',
    name: 'c',
    target: EMAIL,
    least_severity: 'low',
    sources: null,
  });
  const alert = { source: 'traps', kind: 'trap.used', severity: 'high', subject_id: 'subject' } as const;
  const keys = { group_key: 'group', level: 0, flood_key: 'flood' };
  // The outbox gets no message, so that no attempt to send it changes the row.
  const outbox = { add: async () => randomUUID() };
  await database.write((transaction) => notify(transaction, { outbox, clock }, { ...alert, ...keys }));
}

async function post(service: Service, path: string, body?: unknown) {
  const { status, text, body: answer } = await service.call('POST', path, body);
  if (status > 299) throw new Error(`${path}: ${text}`);
  return answer;
}
