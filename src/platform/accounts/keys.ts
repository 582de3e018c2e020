import type { z } from 'zod';
import type { Json } from '../../core/json/canonical.ts';
import type { Database, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { keyedRequest, makeOnce } from '../idempotency/keyed-results.ts';
import type { Administration } from './administration.ts';
import {
  type ApiKey,
  findKey,
  type IssuedKey,
  issueKey,
  type KeyInput,
  type KeyQuery,
  listKeys,
  revokeKey,
  rotateKey,
} from './api-keys.ts';
import { type MadeKey, revokeKeysOf, withMakers } from './key-makers.ts';
import { readPerson } from './person-rows.ts';
import { scopesOfPreset } from './presets.ts';
import type { newKeySchema, rotationSchema } from './wire.ts';

interface KeysDeps {
  database: Database;
  clock: () => Date;
  administration: Administration;
}

/** API keys of the platform, for routes and pages. */
export class ApiKeys {
  readonly #deps: KeysDeps;

  constructor(deps: KeysDeps) {
    this.#deps = deps;
  }

  /** Lists keys, newest first. @throws DomainError `invalid_cursor`. */
  async list(query: KeyQuery) {
    const { database } = this.#deps;
    const { data, next_cursor } = await listKeys(database, query);
    return { data: await withMakers(database, data), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(keyId: string): Promise<MadeKey> {
    const { database } = this.#deps;
    const [key] = await withMakers(database, [await findKey(database, keyId)]);
    return key as MadeKey;
  }

  /** Returns the name of a person who makes keys. @throws DomainError `not_found`. */
  async maker(personId: string): Promise<{ name: string }> {
    return readPerson(this.#deps.database, personId);
  }

  /** @throws DomainError as `issueKey` and `issueOnce`. */
  make(actor: Actor, body: z.output<typeof newKeySchema>, idempotencyKey?: string): Promise<IssuedKey> {
    const { database, clock, administration } = this.#deps;
    const now = clock();
    return issueOnce(database, { scope: 'keys', body, idempotencyKey, now }, (transaction) =>
      issueKey(transaction, keyInput(body), { actor, now, administration }),
    );
  }

  /** @throws DomainError as `rotateKey` and `issueOnce`. */
  rotate(
    actor: Actor,
    keyId: string,
    body: z.output<typeof rotationSchema>,
    idempotencyKey?: string,
  ): Promise<IssuedKey> {
    const { database, clock, administration } = this.#deps;
    const now = clock();
    return issueOnce(database, { scope: `keys/${keyId}/rotate`, body, idempotencyKey, now }, (transaction) =>
      rotateKey(transaction, keyId, body, { actor, now, administration }),
    );
  }

  /** @throws DomainError `not_found`. */
  revoke(actor: Actor, keyId: string): Promise<ApiKey> {
    const { database, clock, administration } = this.#deps;
    return database.write((transaction) => revokeKey(transaction, keyId, { actor, now: clock(), administration }));
  }

  /** Revokes the keys that a person made. @returns their number. @throws DomainError `not_found`. */
  revokeOf(actor: Actor, personId: string): Promise<{ revoked: number }> {
    const { database, clock, administration } = this.#deps;
    return database.write(async (transaction) => {
      await readPerson(transaction, personId);
      return { revoked: await revokeKeysOf(transaction, personId, { actor, now: clock(), administration }) };
    });
  }
}

/** Returns the input of a key that a request describes. */
export function keyInput({
  name,
  preset,
  scopes,
  expires_at,
  streams,
  actor,
}: z.output<typeof newKeySchema>): KeyInput {
  const limits = { streams: streams ?? null, actor: actor ?? null };
  return { name, scopes: scopes ?? scopesOfPreset(preset), expiresAt: expires_at, limits };
}

/** Request that issues a key. */
interface IssueRequest {
  /** Operation of the request. */
  scope: string;
  body: object;
  idempotencyKey: string | undefined;
  now: Date;
}

/**
 * Issues a key in one transaction, once per idempotency key.
 * @throws DomainError `key_shown_before` if the same request issued a key before, whose text cannot be shown again;
 * `idempotency_conflict`; as `issue` does.
 */
export function issueOnce(
  database: Database,
  { scope, body, idempotencyKey, now }: IssueRequest,
  issue: (transaction: Transaction) => Promise<IssuedKey>,
): Promise<IssuedKey> {
  const keyed = keyedRequest(scope, idempotencyKey, body as Json);
  return database.write(async (transaction) => {
    const outcome = await makeOnce(
      transaction,
      { keyed, now },
      () => issue(transaction),
      ({ key }) => key.key_id,
    );
    if ('made' in outcome) return outcome.made;
    throw new DomainError(
      'key_shown_before',
      `this request already created the API key ${outcome.earlier}, whose text cannot be shown again; if you lost it, revoke that key and create another one`,
    );
  });
}
