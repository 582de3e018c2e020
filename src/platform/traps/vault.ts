import { createHmac, hkdfSync } from 'node:crypto';
import type { Json } from '../../core/json/canonical.ts';
import type { Reader, Transaction } from '../database/database.ts';
import { SecretBox } from '../secrets.ts';
import type { FoundTrap } from './decoys/decoy.ts';
import type { Channel, CredentialType } from './enums.ts';
import { type Trap, trapRow } from './repository.ts';
import type { TrapTables } from './tables.ts';
import type { TrapPart } from './types/type.ts';
import type { TrapMark } from './use.ts';

/** Stored form of a credential, which is never shown again as a whole. */
export interface KeptCredential {
  credential: { [name: string]: Json };
  channels: readonly Channel[];
  known_as: string;
  parts: readonly TrapPart[];
}

/** Stores credentials so that decoys can check presented ones, while readers of the database learn nothing. */
export class TrapVault {
  readonly #box: SecretBox;
  readonly marks: TrapMarks;

  /** @param masterKey of the data folder. */
  constructor(masterKey: Uint8Array) {
    this.#box = new SecretBox(masterKey, 'traps/secrets');
    this.marks = new TrapMarks(masterKey);
  }

  seal(credentialId: string, kept: KeptCredential): Uint8Array {
    return this.#box.seal(Buffer.from(JSON.stringify(kept)), credentialId);
  }

  open({ credential_id, secret }: Pick<Trap, 'credential_id' | 'secret'>): KeptCredential {
    return JSON.parse(this.#box.open(secret, credential_id).toString()) as KeptCredential;
  }

  /** Returns the trap that has one of these marks; null if there is none. */
  async find(reader: Reader, marks: readonly TrapMark[]): Promise<FoundTrap | null> {
    const trapNo = await this.marks.find(reader, marks);
    if (trapNo === null) return null;
    const trap = await trapRow(reader, trapNo);
    return { trapNo, ...partWith(marks, trap.credential_type, this.open(trap)) };
  }
}

/** Returns the credential that was used: in a trap with several, the one that matches a mark. */
function partWith(
  marks: readonly TrapMark[],
  type: CredentialType,
  { credential, parts }: KeptCredential,
): Pick<FoundTrap, 'type' | 'credential'> {
  const values = new Set<Json>(marks.map(({ value }) => value));
  for (const part of parts) {
    const own = credential[part.type] as { [name: string]: Json };
    if (Object.values(own).some((value) => values.has(value))) return { type: part.type, credential: own };
  }
  return { type, credential };
}

/** Finds traps by marks, without revealing the marks to readers of the database. */
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

  /** Returns the trap that has one of these marks; null if there is none. */
  async find(reader: Reader, marks: readonly TrapMark[]): Promise<number | null> {
    const digests = marks.map((mark) => this.#digest(mark));
    const rows = reader.tables<TrapTables>().selectFrom('trap_marks').select('trap_no');
    const row = await rows.where(reader.sql.isAmong('mark', digests)).limit(1).executeTakeFirst();
    return row?.trap_no ?? null;
  }

  /** Returns the traps with marks of one kind, by the values of the marks. */
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
