import type { Reader, Transaction } from '../database/database.ts';
import type { SecretBox } from '../secrets.ts';
import { type Administration, ownAct } from './administration.ts';
import { type Ceremonies, challengeIn, type PasskeyAnswer, type SigningOptions } from './ceremonies.ts';
import { type ChallengePurpose, Challenges } from './challenges.ts';
import { changePasskey, type PasskeyRow, type PersonRow, passkeysOf, updatePerson } from './person-rows.ts';
import { codesLeft, takeRecoveryCode } from './recovery-codes.ts';
import { totpStep } from './totp.ts';

/** Second factors: an authenticator that shows codes, or passkeys. Any one suffices. */
export type SecondFactor = 'authenticator' | 'passkey';

/** Factor that a person gave: a second factor, or a code in its place. */
export type UsedFactor = SecondFactor | 'recovery_code';

/** Second factor that was given. */
export interface GivenFactor {
  /** Code of the authenticator. */
  code?: string | undefined;
  passkey?: PasskeyAnswer | undefined;
  recovery_code?: string | undefined;
}

/** Request for a second factor. */
export interface FactorQuestion {
  factors: readonly SecondFactor[];
  /** Options for the browser; null if there is no passkey, or the address does not allow passkeys. */
  options: SigningOptions | null;
  /** True if the person has recovery codes. */
  hasRecovery: boolean;
}

interface FactorDeps {
  secrets: SecretBox;
  clock: () => Date;
  administration: Administration;
  /** Ceremonies; null if the platform's address does not allow passkeys. */
  ceremonies: Ceremonies | null;
}

/** Requests and checks second factors. */
export class SecondFactors {
  readonly #deps: FactorDeps;
  readonly #challenges: Challenges;

  constructor(deps: FactorDeps) {
    this.#deps = deps;
    this.#challenges = new Challenges(deps);
  }

  async ask(reader: Reader, person: PersonRow, purpose: ChallengePurpose): Promise<FactorQuestion> {
    const passkeys = await passkeysOf(reader, person);
    const { ceremonies } = this.#deps;
    const canSign = ceremonies !== null && passkeys.length > 0;
    const options = canSign ? await ceremonies.toSign(passkeys, this.#challenges.make(purpose)) : null;
    const hasRecovery = codesLeft(this.#deps.secrets, person) > 0;
    return { factors: factorsOf(person), options, hasRecovery };
  }

  /**
   * Checks a factor, which can be used once. @param person whose row is locked. @returns the kind of factor, or the
   * reason for none.
   */
  async take(
    transaction: Transaction,
    person: PersonRow,
    { code, passkey, recovery_code }: GivenFactor,
    purpose: ChallengePurpose,
  ): Promise<UsedFactor | 'none' | 'wrong' | 'missing'> {
    const passkeys = await passkeysOf(transaction, person);
    if (factorsOf(person).length === 0) return 'none';
    if (passkey !== undefined)
      return (await this.#takePasskey(transaction, passkeys, passkey, purpose)) ? 'passkey' : 'wrong';
    if (recovery_code !== undefined) {
      const isGood = await takeRecoveryCode(transaction, this.#deps.secrets, person, recovery_code);
      return isGood ? 'recovery_code' : 'wrong';
    }
    if (code === undefined) return 'missing';
    return (await this.#takeCode(transaction, person, code)) ? 'authenticator' : 'wrong';
  }

  async #takeCode(transaction: Transaction, person: PersonRow, code: string): Promise<boolean> {
    const { person_id, totp_secret, totp_step } = person;
    if (totp_secret === null) return false;
    const { secrets, clock } = this.#deps;
    const step = totpStep(secrets.open(totp_secret, person_id), code, clock(), totp_step);
    if (step === null) return false;
    await updatePerson(transaction, { person_id }, { totp_step: step });
    return true;
  }

  /** @param passkeys of the person; passkeys of other people are not accepted. */
  async #takePasskey(
    transaction: Transaction,
    passkeys: readonly PasskeyRow[],
    answer: PasskeyAnswer,
    purpose: ChallengePurpose,
  ): Promise<boolean> {
    const { ceremonies, clock, administration } = this.#deps;
    const passkey = passkeys.find(({ credential_id }) => credential_id === answer.id);
    const challenge = challengeIn(answer);
    if (ceremonies === null || passkey === undefined || challenge === null) return false;
    if (!(await this.#challenges.spend(transaction, challenge, purpose))) return false;
    const counter = await ceremonies.signed(passkey, answer, challenge);
    if (counter === null) return false;
    if (isBehind(counter, passkey.counter)) {
      // The original and the copy are indistinguishable, so owners find the entry and remove the passkey.
      const { person_id, passkey_id } = passkey;
      await administration.record(transaction, ownAct(person_id, 'passkey.counted_back', { passkey_id }));
      return false;
    }
    const last_used_at = clock().toISOString();
    await changePasskey(transaction, passkey, { counter, last_used_at });
    return true;
  }
}

export function factorsOf({ totp_secret, passkeys }: Pick<PersonRow, 'totp_secret' | 'passkeys'>): SecondFactor[] {
  return [...(totp_secret === null ? [] : ['authenticator' as const]), ...(passkeys > 0 ? ['passkey' as const] : [])];
}

/**
 * Reports whether the counter went back. An authenticator that counts never signs twice with the same count, unless it
 * was copied (section 6.1.1).
 */
function isBehind(counter: number, before: number): boolean {
  return (counter > 0 || before > 0) && counter <= before;
}
