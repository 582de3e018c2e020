import { messageOf } from '../../../core/errors.ts';
import type { Json } from '../../../core/json/canonical.ts';
import type { Actor } from '../../accounts/administration.ts';
import type { Database } from '../../database/database.ts';
import { DomainError, invalidField } from '../../errors.ts';
import { KeyedResults, keyedRequest } from '../../idempotency/keyed-results.ts';
import type { DecoyPlace } from '../decoys/decoy.ts';
import type { Origin } from '../enums.ts';
import { refusePast } from '../making.ts';
import { namedPlace } from '../named-place.ts';
import type { WireMadeTrap } from '../requests.ts';
import { credentialShownBefore, type Traps } from '../traps.ts';
import { type AwsKey, awsTrapOf } from '../types/aws-key.ts';
import { accountOf } from './access-key.ts';
import { isCanaryAccount } from './canary-accounts.ts';
import type { Iam } from './iam.ts';
import type { ImportedKey, ProvisionedKey, RealKeyWish } from './requests.ts';
import { newUserName } from './users.ts';

const PROVISION_SCOPE = 'traps/provision';

export interface RealKeysMeans {
  traps: Traps;
  database: Database;
  clock: () => Date;
  places: () => readonly DecoyPlace[];
  /** Null where the settings have no aws. */
  iam: Iam | null;
}

/** Keys that AWS knows, as traps. */
export class RealKeys {
  readonly #means: RealKeysMeans;

  constructor(means: RealKeysMeans) {
    this.#means = means;
  }

  /** Takes a key that somebody made in AWS. @throws DomainError `invalid_request`, `conflict`, `key_shown_before`. */
  async import(actor: Actor, wish: ImportedKey, idempotencyKey: string | undefined): Promise<WireMadeTrap> {
    const { access_key_id: accessKeyId, secret_access_key: secret, region } = wish;
    const accountId = accountOf(accessKeyId);
    if (accountId !== null && isCanaryAccount(accountId))
      throw invalidField('access_key_id', `scanners know its account ${accountId} as one of traps`);
    const key = { accessKeyId, secret, accountId, userName: wish.user_name, userId: null, region };
    return this.#take(actor, key, wish, { origin: 'imported', scope: 'traps/import', idempotencyKey });
  }

  /**
   * Makes a user of IAM without any rights, and a key of theirs. Neither is there any more where this fails.
   * @throws DomainError `conflict` where the settings have no aws or IAM refuses, `invalid_request`, `key_shown_before`.
   */
  async provision(actor: Actor, wish: ProvisionedKey, idempotencyKey: string | undefined): Promise<WireMadeTrap> {
    const { iam } = this.#means;
    if (iam === null)
      throw new DomainError(
        'conflict',
        'the settings have no aws: nobody can make a key there; make one yourself, and import it',
      );
    await this.#refuseRepeated(wish, idempotencyKey);
    refusePast(wish.expires_at, this.#means.clock());
    const userName = wish.user_name ?? newUserName();
    const { arn, userId } = await iam.createUser(userName).catch(refuseWith);
    let accessKeyId: string | null = null;
    try {
      const made = await iam.createAccessKey(userName).catch(refuseWith);
      accessKeyId = made.accessKeyId;
      const accountId = arn.split(':')[4] ?? null;
      const key = { ...made, accountId, userName, userId, region: wish.region };
      return await this.#take(actor, key, wish, { origin: 'provisioned', scope: PROVISION_SCOPE, idempotencyKey });
    } catch (error) {
      if (accessKeyId !== null) await iam.deleteAccessKey(userName, accessKeyId).catch(() => {});
      await iam.deleteUser(userName).catch(() => {});
      throw error;
    }
  }

  async #take(
    actor: Actor,
    key: AwsKey,
    wish: RealKeyWish,
    { origin, scope, idempotencyKey }: { origin: Origin; scope: string; idempotencyKey: string | undefined },
  ): Promise<WireMadeTrap> {
    const { traps, places } = this.#means;
    const { plant_location, label, expires_at } = wish;
    const place = wish.decoy === undefined ? null : namedPlace(places(), wish.decoy, 'aws');
    const facts = { plant_location, label, origin, expires_at, decoy: place?.name ?? null, rotated_from: null };
    const made = awsTrapOf(key, place);
    return await traps.take(
      actor,
      { credential_type: 'aws_key', ...facts },
      { scope, body: wish, idempotencyKey, made },
    );
  }

  /** Before anything is made in AWS for it. */
  async #refuseRepeated(wish: ProvisionedKey, idempotencyKey: string | undefined): Promise<void> {
    if (idempotencyKey === undefined) return;
    const { database, clock } = this.#means;
    const results = new KeyedResults(clock());
    const keyed = keyedRequest(PROVISION_SCOPE, idempotencyKey, wish as unknown as Json);
    await results.read(database, [keyed]);
    const earlier = results.resultOf(keyed);
    if (earlier !== null) throw credentialShownBefore(earlier);
  }
}

function refuseWith(error: unknown): never {
  throw new DomainError('conflict', messageOf(error));
}
