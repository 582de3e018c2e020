import { createHmac, hash, type KeyObject } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { AuditTables } from './tables.ts';

/** Lane of the sum over all heads. */
export type SealedHeadSum = Omit<Selectable<AuditTables['head_sums']>, 'seal'>;

/** Head of a stream, with the counts of the stream's rows. */
// Over ten members: they are the columns that one seal covers.
export interface SealedHead {
  streamId: string;
  createdAt: string;
  sequence: number;
  hash: string;
  count: number;
  lastEntryAt: string;
  checkpoints: number;
  /** Number of anchored checkpoints. */
  anchored: number;
  /** Number of checks that have a number. */
  verifications: number;
  /** Number of packages that have a number. */
  packages: number;
  /** Epoch of the key that seals the next entry. */
  sealEpoch: number;
}

export type CheckpointRow = Selectable<AuditTables['checkpoints']>;
export type VerificationRow = Selectable<AuditTables['verifications']>;
export type StoredPackage = Omit<Selectable<AuditTables['packages']>, 'json_sha256' | 'json_seal' | 'pdf' | 'pdf_seal'>;
export type SealedTotals = Pick<Selectable<AuditTables['totals']>, 'streams' | 'verified' | 'failed' | 'reached'>;

/**
 * Seals of rows that anyone with access to the database could write: hex HMAC-SHA-256 under a key that is not handed
 * out. Seals are compared here and never shown: the expected seal of a changed row would make the change pass as sound.
 */
export class RowSeals {
  readonly #key: KeyObject;

  /** @param key `DerivedSealKeys.ofRows`. */
  constructor(key: KeyObject) {
    this.#key = key;
  }

  head(head: SealedHead): string {
    const end = [head.sequence, head.hash, head.count, head.lastEntryAt];
    const counted = [head.checkpoints, head.anchored, head.verifications, head.packages];
    return this.#seal('head', head.streamId, head.createdAt, ...end, ...counted, head.sealEpoch);
  }

  /** @param streamId of the checkpoint's stream: the stream's number in the database proves nothing. */
  checkpoint(row: Omit<CheckpointRow, 'ordinal' | 'stream_no' | 'seal'>, streamId: string): string {
    const anchor = [row.gen_time, row.token === null ? null : hash('sha256', row.token, 'hex'), row.anchored_as];
    const made = [row.checkpoint_id, row.number, row.sequence, row.hash, row.created_at];
    return this.#seal('checkpoint', streamId, ...made, row.status, row.authority, row.tsa_url, ...anchor);
  }

  verification(row: Omit<VerificationRow, 'verification_no' | 'stream_no' | 'seal' | 'failures'>, streamId: string) {
    const when = [row.verification_id, row.number, row.verified, row.began_at, row.checked_at];
    const what = [row.entries_checked, row.from_sequence, row.to_sequence, row.head_hash, row.sound_through];
    return this.#seal('verification', streamId, ...when, ...what, row.clock_corrections, row.failures_sha256);
  }

  package(row: Omit<StoredPackage, 'stream_no' | 'seal'>, streamId: string): string {
    const facts = [
      row.package_id,
      row.number,
      row.title,
      row.created_at,
      row.entry_count,
      row.first_sequence,
      row.last_sequence,
    ];
    const texts = [hash('sha256', row.head, 'hex'), hash('sha256', row.summary, 'hex')];
    return this.#seal('package', streamId, ...facts, row.checkpoints, row.anchored, ...texts);
  }

  json(packageId: string, sha256: string): string {
    return this.#seal('json', packageId, sha256);
  }

  pdf(packageId: string, pdf: Uint8Array): string {
    return this.#seal('pdf', packageId, hash('sha256', pdf, 'hex'));
  }

  totals({ streams, verified, failed, reached }: SealedTotals): string {
    return this.#seal('totals', streams, verified, failed, reached);
  }

  headSum({ lane, changes, nonce, sum, seen }: SealedHeadSum): string {
    return this.#seal('head_sum', lane, changes, nonce, sum, seen);
  }

  /** Returns the number by which a head's seal is summed. */
  headNumber(seal: string): bigint {
    return BigInt(`0x${this.#seal('head_number', seal)}`);
  }

  /** Returns the number that hides the sum of a lane. */
  headMask(lane: number, nonce: string): bigint {
    return BigInt(`0x${this.#seal('head_mask', lane, nonce)}`);
  }

  /** Seals the content as a JSON array, whose text is unambiguous: no two rows have the same text. */
  #seal(...content: (string | number | null)[]): string {
    return createHmac('sha256', this.#key).update(JSON.stringify(content)).digest('hex');
  }
}
