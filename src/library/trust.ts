import { utf8Bytes } from '../core/bytes.ts';
import { toHmacKey } from '../core/digest.ts';
import type { ClaimName } from '../verifier/claims/claim.ts';
import { pinContract } from '../verifier/reading/pinned.ts';
import type { VerifyOptions } from '../verifier/verify/content.ts';

/** Your own facts and trust anchors. None of them is taken from what is verified, from the disk or from a clock. */
export interface Trust {
  /** The moment of the verification: a time-stamp after it is refuted. */
  now: Date;
  /** The keys of seals, and of digests that are made with one, by their ids. Without them, seals stay unproved. */
  sealKeys?: Readonly<Record<string, Uint8Array>>;
  /** The text of a contract file to read packages by. Without it, the one in the bundle, else the default contract. */
  contract?: string;
  /**
   * The claims that must be proved, besides those that a bundle or a run requires itself. Default: `order` and
   * `content`.
   */
  required?: readonly ClaimName[];
  /** Roles and members of entries that may be left out of digests. Default: none. */
  acceptUnhashed?: readonly string[];
}

/** @throws EvidenceError `config` for a contract that is none. */
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
