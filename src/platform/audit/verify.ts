import { randomUUID } from 'node:crypto';
import type { Database } from '../database/database.ts';
import { Histogram } from '../metrics/histogram.ts';
import { SharedWork } from '../threads/shared-work.ts';
import type { StreamInspection } from './inspection.ts';
import type { RowSeals } from './row-seals.ts';
import { recordVerification } from './verifications.ts';
import type { WireVerification } from './wire.ts';

/** A stream has a few entries, or millions. */
const BOUNDS = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1800];

export interface VerifyDeps {
  database: Database;
  seals: RowSeals;
  clock: () => Date;
  inspect(streamId: string, signal: AbortSignal): Promise<StreamInspection>;
}

/** Checks streams when somebody asks, and records what was found. */
export class Verifier {
  readonly #deps: VerifyDeps;
  readonly #running = new SharedWork<WireVerification>();
  readonly durations = new Histogram('audit_verify_duration_seconds', 'How long checks of a stream took.', BOUNDS);

  constructor(deps: VerifyDeps) {
    this.#deps = deps;
  }

  /**
   * One check of a stream at a time in this process: who asks while one goes on gets what that one finds. Another process
   * may check it meanwhile. That does no harm: both are recorded and counted, and the stream is shown as that one found it
   * that began later.
   * @throws DomainError `not_found` for a stream that does not exist; the reason of `signal`.
   */
  verify(streamId: string, signal: AbortSignal): Promise<WireVerification> {
    return this.#running.join(streamId, signal, (abandoned) => this.#verify(streamId, abandoned));
  }

  async #verify(streamId: string, signal: AbortSignal): Promise<WireVerification> {
    const { database, seals, clock, inspect } = this.#deps;
    const began_at = clock().toISOString();
    const begun = performance.now();
    const inspection = await inspect(streamId, signal);
    const checked_at = clock().toISOString();
    const outcome = inspection.found.verified ? 'verified' : 'failed';
    this.durations.observe((performance.now() - begun) / 1000, { outcome });
    const verification: WireVerification = { verification_id: randomUUID(), checked_at, ...inspection.found };
    await recordVerification(database, seals, { verification, began_at, inspection });
    return verification;
  }
}
