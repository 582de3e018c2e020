import { randomUUID } from 'node:crypto';
import type { Role } from '../../src/platform/accounts/enums.ts';
import { sealedPeople, sealedSignUps } from '../../src/platform/accounts/sealed-rows.ts';
import { RowSealer } from '../../src/platform/database/row-sealer.ts';
import { openSealKeys } from '../../src/platform/setup.ts';
import type { Service } from './service.ts';

const NOW = '2026-11-22T00:00:00.000Z';

/** Adds a person who cannot sign in, because no password matches. @returns their id. */
export async function addPerson({ dataDir, sql }: Service, role: Role = 'auditor'): Promise<string> {
  const id = randomUUID();
  const sealer = await sealerOf(dataDir);
  const none = { totp_secret: null, recovery_codes: null, passkeys: 0, disabled_at: null, act: null };
  const person = { person_id: id, email: `${id}@example.com`, name: 'Somebody', role, password: 'none', ...none };
  const { seal } = sealedPeople.sealed({ sealer }, { ...person, totp_step: 0, created_at: NOW });
  await sql(`INSERT INTO people (person_id, email, name, role, password, totp_step, passkeys, created_at, seal)
    VALUES ('${id}', '${id}@example.com', 'Somebody', '${role}', 'none', 0, 0, '${NOW}', '${seal}')`);
  return id;
}

/** Adds a person who waits for approval. @returns the id of the sign-up. */
export async function addSignUp({ dataDir, sql }: Service): Promise<string> {
  const id = randomUUID();
  const row = { sign_up_id: id, email: `${id}@example.com`, name: 'Somebody', password: 'none', requested_at: NOW };
  const { seal } = sealedSignUps.sealed({ sealer: await sealerOf(dataDir) }, row);
  await sql(`INSERT INTO sign_ups (sign_up_id, email, name, password, requested_at, seal)
    VALUES ('${id}', '${id}@example.com', 'Somebody', 'none', '${NOW}', '${seal}')`);
  return id;
}

async function sealerOf(dataDir: string): Promise<RowSealer> {
  return new RowSealer((await openSealKeys(dataDir)).ofRows());
}

/** Adds a message that the outbox gave up. @returns its id. */
export async function addDeadLetter({ sql }: Service): Promise<string> {
  const id = randomUUID();
  await sql(`INSERT INTO outbox (message_id, kind, payload, created_at, status, attempts, due_at, last_error)
    VALUES ('${id}', 'pigeon', '{}', '${NOW}', 'dead', 12, '${NOW}', 'it flew away')`);
  return id;
}
