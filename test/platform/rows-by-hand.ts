import { randomUUID } from 'node:crypto';
import type { Role } from '../../src/platform/accounts/enums.ts';
import type { Service } from './service.ts';

const NOW = '2026-11-22T00:00:00.000Z';

/** Adds a person who cannot sign in, because no password matches. @returns their id. */
export async function addPerson({ sql }: Service, role: Role = 'auditor'): Promise<string> {
  const id = randomUUID();
  await sql(`INSERT INTO people (person_id, email, name, role, password, totp_step, created_at)
    VALUES ('${id}', '${id}@example.com', 'Somebody', '${role}', 'none', 0, '${NOW}')`);
  return id;
}

/** Adds a person who waits for approval. @returns the id of the sign-up. */
export async function addSignUp({ sql }: Service): Promise<string> {
  const id = randomUUID();
  await sql(`INSERT INTO sign_ups (sign_up_id, email, name, password, requested_at)
    VALUES ('${id}', '${id}@example.com', 'Somebody', 'none', '${NOW}')`);
  return id;
}

/** Adds a message that the outbox gave up. @returns its id. */
export async function addDeadLetter({ sql }: Service): Promise<string> {
  const id = randomUUID();
  await sql(`INSERT INTO outbox (message_id, kind, payload, created_at, status, attempts, due_at, last_error)
    VALUES ('${id}', 'pigeon', '{}', '${NOW}', 'dead', 12, '${NOW}', 'it flew away')`);
  return id;
}
