import type { Transaction } from '../database/database.ts';
import { type SecretBox, tokenDigest } from '../secrets.ts';
import type { AccountTables } from './tables.ts';

/** Validity of a challenge, during which the person finds the authenticator. */
export const CHALLENGE_MS = 5 * 60 * 1000;

/** Purpose of a challenge, which is valid only for one act in one session, or for one ticket. */
export type ChallengePurpose = `${'add' | 'prove' | 'sign in'} ${string}`;

/** @param token of a session, or a ticket. */
export function purposeOf(act: 'add' | 'prove' | 'sign in', token: string): ChallengePurpose {
  return `${act} ${tokenDigest(token)}`;
}

/**
 * Challenges for authenticators to sign. A challenge contains its expiry, sealed for its purpose, so that unanswered
 * challenges are not stored. Each challenge can be answered once: answered ones are stored until they expire.
 */
export class Challenges {
  readonly #deps: { secrets: SecretBox; clock: () => Date };

  constructor(deps: { secrets: SecretBox; clock: () => Date }) {
    this.#deps = deps;
  }

  /** Makes a challenge, which is unique, because each seal contains random bytes. */
  make(purpose: ChallengePurpose): Buffer {
    const { secrets, clock } = this.#deps;
    const until = new Date(clock().getTime() + CHALLENGE_MS).toISOString();
    return secrets.seal(Buffer.from(until), ownerOf(purpose));
  }

  /**
   * Spends a challenge.
   * @param challenge in base64url, as sent by browsers.
   * @returns true if the challenge was made here for this purpose, has not expired, and was not spent before.
   */
  async spend(transaction: Transaction, challenge: string, purpose: ChallengePurpose): Promise<boolean> {
    const sealed = Buffer.from(challenge, 'base64url');
    const until = this.#read(sealed, purpose);
    if (until === null || until <= this.#deps.clock().toISOString()) return false;
    const spent = await transaction
      .tables<AccountTables>()
      .insertInto('spent_challenges')
      .values({ sha256: tokenDigest(sealed.toString('base64url')), until })
      .onConflict((conflict) => conflict.column('sha256').doNothing())
      .returning('sha256')
      .executeTakeFirst();
    return spent !== undefined;
  }

  #read(sealed: Buffer, purpose: ChallengePurpose): string | null {
    try {
      return this.#deps.secrets.open(sealed, ownerOf(purpose)).toString();
    } catch {
      return null;
    }
  }
}

function ownerOf(purpose: ChallengePurpose): string {
  return `challenge to ${purpose}`;
}

/** Deletes spent challenges that have expired. */
export async function forgetChallenges(transaction: Transaction, now: Date): Promise<void> {
  const spent = transaction.tables<AccountTables>().deleteFrom('spent_challenges');
  await spent.where('until', '<', now.toISOString()).execute();
}
