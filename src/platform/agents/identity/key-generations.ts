import type { Reader, Transaction } from '../../database/database.ts';
import type { SecretBox } from '../../secrets.ts';
import type { AgentTables } from '../tables.ts';
import { type KeyGeneration, makeKeyGeneration, openKeyGeneration } from './key-generation.ts';
import { CLOCK_SKEW_MS, KEY_YEARS, LEAD_DAYS, LEAF_DAYS } from './terms.ts';

const DAY_MS = 86_400_000;

/**
 * The platform's own keys. The next generation is made and published a year before one signs the last certificate that it
 * may, so that whoever verifies has it by then. What a generation signed stays verifiable until that generation ends.
 */
export class KeyGenerations {
  readonly #box: SecretBox;
  readonly #trustDomain: () => string;
  readonly #opened = new Map<number, KeyGeneration>();

  constructor(box: SecretBox, trustDomain: () => string) {
    this.#box = box;
    this.#trustDomain = trustDomain;
  }

  /** Makes the first generation, and the next one where the last is near its end. */
  async prepare(transaction: Transaction, now: Date): Promise<void> {
    // Counted before it is looked whether one is needed: what another process makes in between is seen, or has the same number.
    const generation = (await this.#count(transaction)) + 1;
    const newest = (await this.inForce(transaction, now)).at(-1);
    const neededUntil = now.getTime() + (LEAF_DAYS + LEAD_DAYS) * DAY_MS;
    if (newest !== undefined && newest.notAfter.getTime() >= neededUntil) return;
    const notAfter = new Date(now);
    notAfter.setUTCFullYear(now.getUTCFullYear() + KEY_YEARS);
    const notBefore = new Date(now.getTime() - CLOCK_SKEW_MS);
    const terms = { generation, trustDomain: this.#trustDomain(), notBefore, notAfter };
    const insert = transaction.tables<AgentTables>().insertInto('agent_authorities');
    const row = await makeKeyGeneration(terms, this.#box);
    // Another process may have made it in the meantime.
    await insert
      .values(row)
      .onConflict((conflict) => conflict.column('generation').doNothing())
      .execute();
  }

  /** Those whose signatures still count, oldest first. */
  async inForce(reader: Reader, now: Date): Promise<KeyGeneration[]> {
    const rows = reader.tables<AgentTables>().selectFrom('agent_authorities').selectAll();
    const standing = await rows.where('not_after', '>', now.toISOString()).orderBy('generation').execute();
    const generations: KeyGeneration[] = [];
    for (const row of standing) {
      const opened = this.#opened.get(row.generation) ?? openKeyGeneration(row, this.#box);
      this.#opened.set(row.generation, opened);
      generations.push(opened);
    }
    return generations;
  }

  /**
   * The one that signs now: no certificate that it signs outlives it.
   * @throws Error where `prepare` has not made one yet.
   */
  async signing(reader: Reader, now: Date): Promise<KeyGeneration> {
    const last = now.getTime() + LEAF_DAYS * DAY_MS;
    const signing = (await this.inForce(reader, now)).find(({ notAfter }) => notAfter.getTime() >= last);
    if (signing === undefined) throw new Error('the keys that sign for agents are not made yet');
    return signing;
  }

  async #count(reader: Reader): Promise<number> {
    const rows = reader.tables<AgentTables>().selectFrom('agent_authorities');
    const row = await rows.select('generation').orderBy('generation', 'desc').executeTakeFirst();
    return row?.generation ?? 0;
  }
}
