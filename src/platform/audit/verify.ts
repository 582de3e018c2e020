import { randomUUID } from 'node:crypto';
import type { WireVerification } from '../../core/wire.ts';
import type { Database } from '../database/database.ts';
import { SharedWork } from '../threads/shared-work.ts';
import type { StreamInspection } from './inspection.ts';
import type { RowSeals } from './row-seals.ts';
import { recordVerification } from './verifications.ts';

export interface VerifyMeans {
  database: Database;
  seals: RowSeals;
  clock: () => Date;
  inspect(streamId: string, signal: AbortSignal): Promise<StreamInspection>;
}

/** Checks streams when somebody asks, and records what was found. */
export class Verifier {
  readonly #means: VerifyMeans;
  readonly #running = new SharedWork<WireVerification>();

  constructor(means: VerifyMeans) {
    this.#means = means;
  }

  /**
   * One check of a stream at a time: who asks while one goes on gets what that one finds.
   * @throws DomainError `not_found` for a stream that does not exist; the reason of `signal`.
   */
  verify(streamId: string, signal: AbortSignal): Promise<WireVerification> {
    return this.#running.join(streamId, signal, (abandoned) => this.#verify(streamId, abandoned));
  }

  async #verify(streamId: string, signal: AbortSignal): Promise<WireVerification> {
    const { database, seals, clock, inspect } = this.#means;
    const began_at = clock().toISOString();
    const inspection = await inspect(streamId, signal);
    const checked_at = clock().toISOString();
    const verification: WireVerification = { verification_id: randomUUID(), checked_at, ...inspection.found };
    await recordVerification(database, seals, { verification, began_at, inspection });
    return verification;
  }
}
