import { messageOf } from '../../../core/errors.ts';
import type { Json } from '../../../core/json/canonical.ts';
import { DomainError, invalidField } from '../../errors.ts';
import type { Actor } from '../../http/principal.ts';
import { earlierResult, keyedRequest } from '../../idempotency/keyed-results.ts';
import type { DecoyPlace } from '../decoys/decoy.ts';
import type { Origin } from '../enums.ts';
import { namedPlace, refusePast, type TrapServiceDeps } from '../making.ts';
import { credentialShownBefore, type Traps } from '../traps.ts';
import { type AwsKey, awsTrapOf, newUserName } from '../types/aws-key.ts';
import type { ImportedKey, ProvisionedKey, RealKeyInput, WireMadeTrap } from '../wire.ts';
import { accountOf, isCanaryAccount } from './access-key.ts';
import type { Iam } from './iam.ts';

const PROVISION_SCOPE = 'traps/provision';

interface RealKeysDeps extends Pick<TrapServiceDeps, 'database' | 'clock'> {
  traps: Traps;
  places: () => readonly DecoyPlace[];
  /** Client of IAM; null if the settings have no aws. */
  iam: Iam | null;
}

/** Traps that are keys of real AWS accounts. */
export class RealKeys {
  readonly #deps: RealKeysDeps;

  constructor(deps: RealKeysDeps) {
    this.#deps = deps;
  }

  /**
   * Imports a key that a person created in AWS. @throws DomainError `invalid_request`, `conflict`, `key_shown_before`.
   */
  async import(actor: Actor, input: ImportedKey, idempotencyKey: string | undefined): Promise<WireMadeTrap> {
    const { access_key_id: accessKeyId, secret_access_key: secret, region } = input;
    const accountId = accountOf(accessKeyId);
    if (accountId !== null && isCanaryAccount(accountId))
      throw invalidField('access_key_id', `scanners know its account ${accountId} as one of traps`);
    const key = { accessKeyId, secret, accountId, userName: input.user_name, userId: null, region };
    return this.#take(actor, key, input, { origin: 'imported', scope: 'traps/import', idempotencyKey });
  }

  /**
   * Creates an IAM user without any rights, and a key for the user. Removes both again if this fails.
   * @throws DomainError `conflict` if the settings have no aws or IAM refuses, `invalid_request`, `key_shown_before`.
   */
  async provision(actor: Actor, input: ProvisionedKey, idempotencyKey: string | undefined): Promise<WireMadeTrap> {
    const { iam } = this.#deps;
    if (iam === null)
      throw new DomainError(
        'conflict',
        'the settings have no aws: nobody can make a key there; make one yourself, and import it',
      );
    await this.#refuseRepeated(input, idempotencyKey);
    refusePast(input.expires_at, this.#deps.clock());
    const userName = input.user_name ?? newUserName();
    const { arn, userId } = await iam.createUser(userName).catch(refuseWith);
    let accessKeyId: string | null = null;
    try {
      const made = await iam.createAccessKey(userName).catch(refuseWith);
      accessKeyId = made.accessKeyId;
      const accountId = arn.split(':')[4] ?? null;
      const key = { ...made, accountId, userName, userId, region: input.region };
      return await this.#take(actor, key, input, { origin: 'provisioned', scope: PROVISION_SCOPE, idempotencyKey });
    } catch (error) {
      if (accessKeyId !== null) await iam.deleteAccessKey(userName, accessKeyId).catch(() => {});
      await iam.deleteUser(userName).catch(() => {});
      throw error;
    }
  }

  async #take(
    actor: Actor,
    key: AwsKey,
    input: RealKeyInput,
    { origin, scope, idempotencyKey }: { origin: Origin; scope: string; idempotencyKey: string | undefined },
  ): Promise<WireMadeTrap> {
    const { traps, places } = this.#deps;
    const { plant_location, label, expires_at } = input;
    const place = input.decoy === undefined ? null : namedPlace(places(), input.decoy, 'aws');
    const facts = { plant_location, label, origin, expires_at, decoy: place?.name ?? null, rotated_from: null };
    const made = awsTrapOf(key, place);
    return await traps.take(
      actor,
      { credential_type: 'aws_key', ...facts },
      { scope, body: input, idempotencyKey, made },
    );
  }

  /** Refuses a repeated request before anything is created in AWS. */
  async #refuseRepeated(input: ProvisionedKey, idempotencyKey: string | undefined): Promise<void> {
    const { database, clock } = this.#deps;
    const keyed = keyedRequest(PROVISION_SCOPE, idempotencyKey, input as unknown as Json);
    const earlier = await earlierResult(database, keyed, clock());
    if (earlier !== null) throw credentialShownBefore(earlier);
  }
}

function refuseWith(error: unknown): never {
  throw new DomainError('conflict', messageOf(error));
}
