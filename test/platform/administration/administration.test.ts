import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { byCommand } from '../../../src/platform/accounts/administration.ts';
import { ApiKeys } from '../../../src/platform/accounts/keys.ts';
import { AdministrationService } from '../../../src/platform/administration/service.ts';
import { type AlertService, assembleAlerts } from '../../../src/platform/alerts/service.ts';
import { newAlertChannelSchema } from '../../../src/platform/alerts/wire.ts';
import type { Database } from '../../../src/platform/database/database.ts';
import { Outbox } from '../../../src/platform/jobs/outbox.ts';
import type { JobTables } from '../../../src/platform/jobs/tables.ts';
import { usePostgres } from '../../support/shared-postgres.ts';
import { PASSWORD, PeoplePlace, PUBLIC_URL } from '../accounts/people-place.ts';
import { SoftAuthenticator } from '../accounts/soft-authenticator.ts';
import { DATABASES, type DatabasePlace, migratedPostgres } from '../database/databases.ts';
import { kill, PlatformProcesses } from '../processes.ts';
import { call } from '../service.ts';

const ADA = 'ada@example.com';
const BEN = 'ben@example.com';
const OWNER = byCommand('test');
const JOINER = { name: 'Ada', password: PASSWORD };
const NEXT = 'the third door on the left';
const HOOK = newAlertChannelSchema.parse({ kind: 'webhook', name: 'x', target: 'https://example.com/' });
const KEY = { name: 'k', scopes: ['audit:read' as const], expires_at: null };

interface Scene {
  at: PeoplePlace;
  keys: ApiKeys;
  administration: AdministrationService;
  alerts: AlertService;
  /** Account with a session. */
  ben: string;
  session: string;
  keyId: string;
  deadLetter: string;
}

/** Every recorded act, with its preparation. */
const ACTS: Record<string, (scene: Scene) => Promise<() => Promise<unknown>>> = {
  'key.made':
    async ({ keys }) =>
    () =>
      keys.make(OWNER, KEY),
  'key.rotated':
    async ({ keys, keyId }) =>
    () =>
      keys.rotate(OWNER, keyId, { overlap_seconds: 0 }),
  'key.revoked':
    async ({ keys, keyId }) =>
    () =>
      keys.revoke(OWNER, keyId),
  'person.invited':
    async ({ at }) =>
    () =>
      at.accounts.invitations.invite(OWNER, { email: 'new@example.com', role: 'auditor' }),
  'invitation.sent_again': async ({ at }) => {
    const { link_id } = await at.accounts.invitations.invite(OWNER, { email: ADA, role: 'auditor' });
    at.now += 60_000;
    return () => at.accounts.invitations.sendAgain(OWNER, link_id);
  },
  'invitation.withdrawn': async ({ at }) => {
    const { link_id } = await at.accounts.invitations.invite(OWNER, { email: ADA, role: 'auditor' });
    return () => at.accounts.invitations.withdraw(OWNER, link_id);
  },
  'person.joined': async ({ at }) => {
    const token = await at.link('invite', { email: ADA, role: 'owner' });
    await at.accounts.invitations.invite(OWNER, { email: ADA, role: 'operator' });
    return () => at.accounts.joining.accept(token, JOINER);
  },
  'person.role_changed':
    async ({ at, ben }) =>
    () =>
      at.accounts.people.changeRole(OWNER, ben, 'operator'),
  'person.disabled':
    async ({ at, ben }) =>
    () =>
      at.accounts.people.disable(OWNER, ben),
  'person.enabled': async ({ at, ben }) => {
    await at.accounts.people.disable(OWNER, ben);
    return () => at.accounts.people.enable(OWNER, ben);
  },
  'person.signed_in':
    async ({ at }) =>
    () =>
      at.signIn(BEN),
  'sessions.ended':
    async ({ at, ben, session }) =>
    () =>
      at.accounts.ownSessions.endOthers(ben, session),
  'password.changed':
    async ({ at, session }) =>
    () =>
      at.accounts.credentials.changePassword(session, 'n', { password: PASSWORD, next: NEXT }),
  'password.reset_link_made':
    async ({ at }) =>
    () =>
      at.accounts.credentials.resetLink(OWNER, BEN),
  'password.reset': async ({ at, ben }) => {
    const token = await at.link('reset', { person_id: ben });
    return () => at.accounts.credentials.reset(token, NEXT);
  },
  'second_factor.added':
    async ({ at, session }) =>
    () =>
      at.accounts.credentials.addAuthenticator(session, Buffer.alloc(20), at.codeOf(Buffer.alloc(20))),
  'second_factor.removed': async ({ at, ben, session }) => {
    await at.accounts.credentials.addAuthenticator(session, Buffer.alloc(20), at.codeOf(Buffer.alloc(20)));
    return () => at.accounts.people.removeSecondFactor(OWNER, ben);
  },
  'passkey.counted_back': async ({ at, session }) => {
    const device = new SoftAuthenticator(PUBLIC_URL);
    const { passkeys, signIn } = at.accounts;
    await passkeys.add(session, 'telephone', device.make(await passkeys.askToAdd(session)));
    return async () => {
      const { options } = await signIn.askAgain(session);
      device.counter = 0;
      const passkey = device.sign(options ?? expect.fail('no passkey is asked for'));
      const given = { password: PASSWORD, passkey };
      await signIn.proveAgain(session, 'n', given).catch((error) => {
        if (error.code !== 'not_signed_in') throw error;
      });
    };
  },
  'sign_up.confirmed': async ({ at }) => {
    const token = await at.link('confirm', { email: ADA, role: 'auditor' });
    return () => at.accounts.joining.confirm(token, JOINER);
  },
  'sign_up.approved': async ({ at }) => {
    const id = await waitingId(at);
    return () => at.accounts.signUps.approve(OWNER, id);
  },
  'sign_up.declined': async ({ at }) => {
    const id = await waitingId(at);
    return () => at.accounts.signUps.decline(OWNER, id);
  },
  'recovery_codes.made': async ({ at, ben, session }) => {
    await at.accounts.credentials.addAuthenticator(session, Buffer.alloc(20), at.codeOf(Buffer.alloc(20)));
    return () => at.accounts.recoveryCodes.renew(ben);
  },
  'recovery_code.used': async ({ at, session }) => {
    const secret = Buffer.alloc(20);
    const codes = await at.accounts.credentials.addAuthenticator(session, secret, at.codeOf(secret));
    return () => at.accounts.signIn.proveAgain(session, 'n', { password: PASSWORD, recovery_code: codes?.[0] });
  },
  'message.replayed':
    async ({ administration, deadLetter }) =>
    () =>
      administration.replay(OWNER, deadLetter),
  'alert_channel.added':
    async ({ alerts }) =>
    () =>
      alerts.channels.add(OWNER, HOOK, 'once'),
  'alert_channel.removed': async ({ alerts }) => {
    const { alert_channel_id } = await alerts.channels.add(OWNER, HOOK);
    return () => alerts.channels.remove(OWNER, alert_channel_id);
  },
};

/** Returns the id of somebody who waits for approval. */
async function waitingId(at: PeoplePlace): Promise<string> {
  await at.accounts.joining.confirm(await at.link('confirm', { email: ADA, role: 'auditor' }), JOINER);
  return (await at.accounts.signUps.list({ limit: 1 })).data[0]?.sign_up_id ?? '';
}

/** All tables that acts change, except for counted attempts, which are written earlier. */
const TABLES = [
  'people',
  'links',
  'sign_ups',
  'sessions',
  'passkeys',
  'spent_challenges',
  'api_keys',
  'outbox',
  'alerting_channels',
  'keyed_results',
  'entries',
  'streams',
] as const;

describe.each(DATABASES)('the record of administrative acts on %s', (_name, start) => {
  let place: DatabasePlace;
  beforeAll(async () => {
    place = await start();
  });
  afterAll(() => place.close());

  const masterKey = randomBytes(32);
  let database: Database;
  let open: () => Database;
  let at: PeoplePlace;
  beforeEach(async () => {
    ({ database, open } = await place.createMigrated());
    at = new PeoplePlace(database, masterKey, 'approval');
  });

  async function makeScene(): Promise<Scene> {
    const { log, administration } = at;
    const clock = () => new Date(at.now);
    const keys = new ApiKeys({ database, clock, administration });
    const outbox = new Outbox(database, clock);
    const ben = await at.join(BEN);
    const session = await at.signIn(BEN);
    const { key } = await keys.make(OWNER, KEY);
    const deadLetter = await database.write(async (transaction) => {
      const id = await outbox.add(transaction, 'pigeon', {});
      await transaction.tables<JobTables>().updateTable('outbox').set({ status: 'dead' }).execute();
      return id;
    });
    const service = new AdministrationService({ database, log, administration, outbox });
    const alerts = assembleAlerts({
      database,
      clock,
      administration,
      outbox,
      masterKey,
      outgoingHosts: [],
      publicUrl: () => PUBLIC_URL,
    });
    return { at, keys, administration: service, alerts, ben, session, keyId: key.key_id, deadLetter };
  }

  /** Reads the tables one after another, to use few connections per test. */
  const written = async () => {
    const all: Record<string, object[]> = {};
    for (const table of TABLES)
      all[table] = await database.tables<Record<string, object>>().selectFrom(table).selectAll().execute();
    return all;
  };
  const actions = async () => (await at.acts()).map(({ action }) => action);

  test.each(Object.keys(ACTS))('%s and its entry are both there, or neither', async (action) => {
    const act = await ACTS[action]?.(await makeScene());
    const [before, actsBefore] = [await written(), await actions()];
    for (const when of ['before', 'after'] as const) {
      at.fault = when;
      await expect(act?.()).rejects.toThrow('a fault');
      expect(await written()).toEqual(before);
    }
    at.fault = null;
    await act?.();
    expect(await actions()).toEqual([...actsBefore, action]);
  });

  test('nothing is done where the record was changed by somebody else', async () => {
    const act = await ACTS['person.disabled']?.(await makeScene());
    await database.write((transaction) =>
      transaction
        .tables<{ streams: { head_hash: string } }>()
        .updateTable('streams')
        .set({ head_hash: 'f'.repeat(64) })
        .execute(),
    );
    const before = await written();
    await expect(act?.()).rejects.toMatchObject({ code: 'stream_damaged' });
    expect(await written()).toEqual(before);
  });

  test('several processes record in one chain, whatever they lock besides', async () => {
    const places = [at, new PeoplePlace(open(), masterKey), new PeoplePlace(open(), masterKey)];
    const people = ['a', 'b', 'c', 'd'].map((each) => `${each}@example.com`);
    const ids: string[] = [];
    for (const email of people) ids.push(await at.join(email, 'owner'));
    const before = (await at.acts()).length;
    const outcomes = await Promise.allSettled(
      Array.from({ length: 48 }, async (_, number) => {
        const one = places[number % 3] ?? at;
        const { accounts, administration, database: own } = one;
        const [email = '', id = ''] = [people[number % 4], ids[(number + 1) % 4]];
        if (number % 4 === 0) return accounts.people.disable(OWNER, id).then(() => 1);
        if (number % 4 === 1) return accounts.people.enable(OWNER, id).then(() => 1);
        if (number % 4 === 2) return one.signIn(email, { network: `${number}` }).then(() => 1);
        const keys = new ApiKeys({ database: own, clock: () => new Date(at.now), administration });
        return keys.make(OWNER, KEY).then(() => 1);
      }),
    );
    const wrong = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason.code ?? each.reason] : []));
    // A person who is disabled at this moment cannot sign in, and the last owner cannot be disabled.
    expect(wrong.filter((code) => !['not_signed_in', 'too_many_attempts', 'conflict'].includes(code))).toEqual([]);
    const acts = await at.acts();
    expect(acts.length).toBeGreaterThan(before + 12);
    for (const [index, { sequence, prev_hash }] of acts.entries()) {
      expect(sequence).toBe(index + 1);
      expect(prev_hash).toBe(acts[index - 1]?.hash ?? '0'.repeat(64));
    }
    const stored = await written();
    const made = acts.filter(({ action }) => action === 'key.made');
    expect(made.map(({ resource_id }) => resource_id).sort()).toEqual(
      stored['api_keys']?.map((key) => (key as { key_id: string }).key_id).sort(),
    );
  });
});

describe('a process that is killed', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'killed-'));
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each(['SQLite', 'PostgreSQL'])('leaves as many keys as entries that say so, on %s', async (name) => {
    const postgres = name === 'SQLite' ? null : await usePostgres();
    const words = postgres === null ? [] : ['--postgres', await postgres.create((await migratedPostgres()).url)];
    const platform = await PlatformProcesses.init(['--data', join(folder, name), ...words]);
    try {
      const { child, origin } = await platform.serve();
      let made = 0;
      const make = async () => {
        for (;;) {
          const { status } = await call(origin, platform.apiKey, 'POST', '/keys/', {
            name: 'x',
            scopes: ['audit:read'],
          });
          if (status !== 201) throw new Error(String(status));
          if (++made === 60) void kill(child);
        }
      };
      await Promise.allSettled(Array.from({ length: 8 }, make));
      expect(made).toBeGreaterThanOrEqual(60);
      const again = await platform.serveHere();
      const ask = (method: string, path: string) => call(again.origin, platform.apiKey, method, path);
      const keys = (await ask('GET', '/keys/?limit=500')).body.data;
      const acts = (await ask('GET', '/administration/acts?limit=500')).body.data;
      const idsOf = (rows: Record<string, string>[], id: string) => rows.map((row) => row[id]).sort();
      const named = keys.filter((key: { name: string }) => key.name === 'x');
      expect(named.length).toBeGreaterThanOrEqual(made);
      expect(
        idsOf(
          acts.filter((act: { action: string }) => act.action === 'key.made'),
          'resource_id',
        ),
      ).toEqual(idsOf(named, 'key_id'));
      const verify = await ask('POST', `/audit/streams/${encodeURIComponent('platform/administration')}/verify`);
      expect(verify.body).toMatchObject({ verified: true, failures: [] });
    } finally {
      await platform.close();
      await postgres?.close();
    }
  });
});
