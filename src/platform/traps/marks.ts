import { createHmac, hkdfSync } from 'node:crypto';
import type { Reader, Transaction } from '../database/database.ts';
import type { TrapTables } from './tables.ts';

/** A mark by which a use of a trap is recognized. */
export interface TrapMark {
  kind:
    | 'aws_access_key_id'
    | 'postgres_login'
    | 'ssh_fingerprint'
    | 'bearer'
    | 'basic'
    | 'token_id'
    | 'client_certificate'
    | 'path';
  value: string;
}

/** Finds traps by what was used, without telling whoever reads the database what that is. */
export class TrapMarks {
  readonly #key: Buffer;

  /** @param masterKey of the data folder. */
  constructor(masterKey: Uint8Array) {
    this.#key = Buffer.from(hkdfSync('sha256', masterKey, Buffer.alloc(32), 'traps/marks', 32));
  }

  async add(transaction: Transaction, trapNo: number, marks: readonly TrapMark[]): Promise<void> {
    const rows = marks.map((mark) => ({ mark: this.#digest(mark), trap_no: trapNo }));
    await transaction.insertAll('trap_marks', { mark: 'text', trap_no: 'integer' }, rows);
  }

  /** The trap that has one of these marks; null for none. */
  async find(reader: Reader, marks: readonly TrapMark[]): Promise<number | null> {
    const digests = marks.map((mark) => this.#digest(mark));
    const rows = reader.tables<TrapTables>().selectFrom('trap_marks').select('trap_no');
    const row = await rows.where(reader.sql.isAmong('mark', digests)).limit(1).executeTakeFirst();
    return row?.trap_no ?? null;
  }

  /** The traps that have marks of one kind, by the values of the marks. */
  async findEach(reader: Reader, kind: TrapMark['kind'], values: readonly string[]): Promise<Map<string, number>> {
    const byDigest = new Map(values.map((value) => [this.#digest({ kind, value }), value]));
    const rows = reader.tables<TrapTables>().selectFrom('trap_marks').selectAll();
    const found = await rows.where(reader.sql.isAmong('mark', [...byDigest.keys()])).execute();
    return new Map(found.map(({ mark, trap_no }) => [byDigest.get(mark) ?? '', trap_no]));
  }

  #digest({ kind, value }: TrapMark): string {
    return createHmac('sha256', this.#key).update(`${kind}\0${value}`).digest('hex');
  }
}
