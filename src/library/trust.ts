import { utf8Bytes } from '../core/bytes.ts';
import { toHmacKey } from '../core/digest.ts';
import type { ClaimName } from '../verifier/claims/claim.ts';
import { pinContract } from '../verifier/reading/pinned.ts';
import type { VerifyOptions } from '../verifier/verify/content.ts';

/** Your own facts and trust anchors. None is taken from the verified evidence, the disk or a clock. */
export interface Trust {
  /** Time of the verification. A time-stamp with a later time proves nothing. */
  now: Date;
  /** Keys of seals and of keyed digests, by id. If absent, seals stay unproved. */
  sealKeys?: Readonly<Record<string, Uint8Array>>;
  /** Text of a contract file to read packages by. Default: the contract in the bundle or, without one, the default. */
  contract?: string;
  /** Claims that must be proved, besides those that a bundle or a run requires. Default: `order` and `content`. */
  required?: readonly ClaimName[];
  /** Roles and members of entries that digests need not cover. Default: none. */
  acceptUnhashed?: readonly string[];
}

/** @throws EvidenceError `config` if the contract is invalid. */
export function toVerifyOptions({ now, sealKeys = {}, contract, required, acceptUnhashed }: Trust): VerifyOptions {
  return {
    now,
    contract: contract === undefined ? null : pinContract(utf8Bytes(contract), 'the contract'),
    sealKeys: new Map(Object.entries(sealKeys).map(([id, key]) => [id, toHmacKey(key)])),
    roots: null,
    ...(required === undefined ? {} : { required }),
    ...(acceptUnhashed === undefined ? {} : { acceptUnhashed }),
  };
}
