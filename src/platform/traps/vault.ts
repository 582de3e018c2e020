import type { Json } from '../../core/json/canonical.ts';
import type { Reader } from '../database/database.ts';
import { SecretBox } from '../secrets.ts';
import type { FoundTrap } from './decoys/decoy.ts';
import type { Channel, CredentialType } from './enums.ts';
import { type TrapMark, TrapMarks } from './marks.ts';
import { type Trap, trapRow } from './repository.ts';
import type { TrapPart } from './types/type.ts';

/** The stored form of a credential, never shown again as a whole. */
export interface KeptCredential {
  credential: { [name: string]: Json };
  channels: readonly Channel[];
  known_as: string;
  parts: readonly TrapPart[];
}

/** Keeps credentials so that decoys can judge what they are shown, and readers of the database learn nothing. */
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

  /** The trap that has one of these marks; null for none. */
  async find(reader: Reader, marks: readonly TrapMark[]): Promise<FoundTrap | null> {
    const trapNo = await this.marks.find(reader, marks);
    if (trapNo === null) return null;
    const trap = await trapRow(reader, trapNo);
    return { trapNo, ...partWith(marks, trap.credential_type, this.open(trap)) };
  }
}

/** The credential that was used: of a trap with several the one that has what it was recognised by. */
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
