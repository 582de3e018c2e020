import type { Reader, Transaction } from '../database/database.ts';
import type { SecretBox } from '../secrets.ts';
import { type Administration, ownAct } from './administration.ts';
import { type Ceremonies, challengeIn, type PasskeyAnswer, type SigningOptions } from './ceremonies.ts';
import { type ChallengePurpose, Challenges } from './challenges.ts';
import { changePasskey, type PasskeyRow, type PersonRow, passkeysOf, updatePerson } from './person-rows.ts';
import { totpStep } from './totp.ts';

/** Second factors: an authenticator that shows codes, or passkeys. Any of them is enough. */
export type SecondFactor = 'authenticator' | 'passkey';

/** A second factor as it was given. */
export interface GivenFactor {
  /** The code of the authenticator. */
  code?: string | undefined;
  passkey?: PasskeyAnswer | undefined;
}

/** The question for a second factor. */
export interface FactorQuestion {
  factors: readonly SecondFactor[];
  /** For the browser; null where there is no passkey, or none can be used. */
  options: SigningOptions | null;
}

interface FactorDeps {
  secrets: SecretBox;
  clock: () => Date;
  administration: Administration;
  /** Null where the platform is not reached as passkeys need it. */
  ceremonies: Ceremonies | null;
}

/** Asks for a second factor, and takes it. */
export class SecondFactors {
  readonly #deps: FactorDeps;
  readonly #challenges: Challenges;

  constructor(deps: FactorDeps) {
    this.#deps = deps;
    this.#challenges = new Challenges(deps);
  }

  async ask(reader: Reader, person: PersonRow, purpose: ChallengePurpose): Promise<FactorQuestion> {
    const passkeys = await passkeysOf(reader, person.person_id);
    const { ceremonies } = this.#deps;
    const canSign = ceremonies !== null && passkeys.length > 0;
    const options = canSign ? await ceremonies.toSign(passkeys, this.#challenges.make(purpose)) : null;
    return { factors: factorsOf(person, passkeys.length > 0), options };
  }

  /**
   * Takes a factor, which is good once. @param person whose row is locked. @returns which one it was, or why it is
   * none.
   */
  async take(
    transaction: Transaction,
    person: PersonRow,
    { code, passkey }: GivenFactor,
    purpose: ChallengePurpose,
  ): Promise<SecondFactor | 'none' | 'wrong' | 'missing'> {
    const passkeys = await passkeysOf(transaction, person.person_id);
    if (factorsOf(person, passkeys.length > 0).length === 0) return 'none';
    if (passkey !== undefined)
      return (await this.#takePasskey(transaction, passkeys, passkey, purpose)) ? 'passkey' : 'wrong';
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

  /** @param passkeys of the person: with one of somebody else nobody shows that it is them. */
  async #takePasskey(
    transaction: Transaction,
    passkeys: readonly PasskeyRow[],
    answer: PasskeyAnswer,
    purpose: ChallengePurpose,
  ): Promise<boolean> {
    const { ceremonies, clock } = this.#deps;
    const passkey = passkeys.find(({ credential_id }) => credential_id === answer.id);
    const challenge = challengeIn(answer);
    if (ceremonies === null || passkey === undefined || challenge === null) return false;
    if (!(await this.#challenges.spend(transaction, challenge, purpose))) return false;
    const counter = await ceremonies.signed(passkey, answer, challenge);
    if (counter === null) return false;
    if (isBehind(counter, passkey.counter)) {
      await this.#recordCopy(transaction, passkey);
      return false;
    }
    const last_used_at = clock().toISOString();
    await changePasskey(transaction, passkey, { counter, last_used_at });
    return true;
  }

  /** Nobody knows which of the two is the copy: the owners find the entry, and remove the passkey. */
  async #recordCopy(transaction: Transaction, { person_id, passkey_id }: PasskeyRow): Promise<void> {
    await this.#deps.administration.record(transaction, ownAct(person_id, 'passkey.counted_back', { passkey_id }));
  }
}

export function factorsOf({ totp_secret }: Pick<PersonRow, 'totp_secret'>, hasPasskey: boolean): SecondFactor[] {
  return [...(totp_secret === null ? [] : ['authenticator' as const]), ...(hasPasskey ? ['passkey' as const] : [])];
}

/** An authenticator that counts never signs twice at one count, unless there are two of it (section 6.1.1). */
function isBehind(counter: number, before: number): boolean {
  return (counter > 0 || before > 0) && counter <= before;
}
