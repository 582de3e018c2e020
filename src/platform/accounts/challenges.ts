import type { Transaction } from '../database/database.ts';
import { type SecretBox, tokenDigest } from '../secrets.ts';
import type { AccountTables } from './tables.ts';

/** For so long somebody looks for their authenticator. */
export const CHALLENGE_MS = 5 * 60 * 1000;

/** The purpose of a challenge: it is good in one session, or for one ticket, and for nothing else there. */
export type ChallengePurpose = `${'add' | 'prove' | 'sign in'} ${string}`;

/** @param token of a session, or a ticket. */
export function purposeOf(act: 'add' | 'prove' | 'sign in', token: string): ChallengePurpose {
  return `${act} ${tokenDigest(token)}`;
}

/**
 * Challenges for authenticators to sign. A challenge contains its expiry, sealed for its purpose, so that nothing is
 * kept of those that nobody answers. It is good once: those that were answered are kept until they are too old.
 */
export class Challenges {
  readonly #deps: { secrets: SecretBox; clock: () => Date };

  constructor(deps: { secrets: SecretBox; clock: () => Date }) {
    this.#deps = deps;
  }

  /** A new one. No two are alike: the seal of each has random bytes. */
  make(purpose: ChallengePurpose): Buffer {
    const { secrets, clock } = this.#deps;
    const until = new Date(clock().getTime() + CHALLENGE_MS).toISOString();
    return secrets.seal(Buffer.from(until), ownerOf(purpose));
  }

  /**
   * Spends a challenge.
   * @param challenge in base64url, as browsers say it.
   * @returns whether it was good: made here for this purpose, young, and never spent.
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

/** Removes those that are too old anyhow. */
export async function forgetChallenges(transaction: Transaction, now: Date): Promise<void> {
  const spent = transaction.tables<AccountTables>().deleteFrom('spent_challenges');
  await spent.where('until', '<', now.toISOString()).execute();
}
