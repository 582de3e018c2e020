import type { Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { BaitDeps } from '../deps.ts';
import { type EndpointAct, endpointActor } from '../entries.ts';
import type { BaitEventType, BaitStatus } from '../enums.ts';
import { EventWriting } from '../event-writing.ts';
import { findEndpoint } from '../host-rows.ts';
import { SEVERITY_OF_BAIT } from '../rules.ts';
import type { BaitReads, BaitStanding, Planted } from '../wire/bait.ts';
import { type BaitRow, changeBait, findBait } from './rows.ts';

interface Stands {
  bait_id: string;
  status: BaitStatus;
}

/** Status and event that follow from a sensor's finding. `unknown` also depends on the previous status. */
const FOLLOWS: Record<BaitStanding['standing'], { status: BaitStatus | null; event: BaitEventType | null }> = {
  gone: { status: 'lost', event: 'bait_missing' },
  replaced: { status: 'lost', event: 'bait_missing' },
  changed: { status: null, event: 'bait_changed' },
  unknown: { status: 'lost', event: 'bait_missing' },
  removed: { status: 'removed', event: null },
  left: { status: 'left', event: 'bait_changed' },
};

/** Receives the findings of sensors about their bait. */
export class BaitProtocol {
  readonly #deps: BaitDeps;

  constructor(deps: BaitDeps) {
    this.#deps = deps;
  }

  /** Records that bait is planted or cannot be. Repeating this changes nothing. @throws DomainError `not_found`. */
  planted(endpointId: string, baitId: string, told: Planted): Promise<Stands> {
    const { clock, baitTraps } = this.#deps;
    return this.#change(endpointId, baitId, async (transaction, bait, events) => {
      if (bait.status !== 'asked') return {};
      const now = clock().toISOString();
      const { credential_id: credentialId } = bait;
      if (!told.planted) {
        events.entries.add(endpointActor(endpointId), act('bait.refused', bait, { reason: told.reason }));
        return { status: 'refused', content: null, reason: told.reason, ended_at: now };
      }
      const isReadSeen = told.seen_by.includes('atime');
      await baitTraps.notePlanted(transaction, { actor: endpointActor(endpointId), credentialId, isReadSeen });
      events.entries.add(endpointActor(endpointId), act('bait.planted', bait, { seen_by: told.seen_by }));
      return { status: 'planted', content: null, seen_by: JSON.stringify(told.seen_by), planted_at: now };
    });
  }

  /**
   * Records that bait is not as the sensor left it, or that the sensor has removed it. @throws DomainError `not_found`.
   */
  stands(endpointId: string, baitId: string, { standing, reason }: BaitStanding): Promise<Stands> {
    return this.#change(endpointId, baitId, async (_transaction, bait, events) => {
      if (bait.ended_at !== null) return {};
      const wasNeverThere = standing === 'unknown' && bait.planted_at === null;
      const isAsWanted = standing === 'gone' && bait.status === 'leaving';
      const { status, event } = wasNeverThere || isAsWanted ? FOLLOWS.removed : FOLLOWS[standing];
      events.entries.add(endpointActor(endpointId), act(`bait.${standing}`, bait, { reason }));
      if (event === null) events.resolveOfBait(bait.path, 'the bait was removed');
      else
        events.raiseOfReports({
          type: event,
          path: bait.path,
          severity: SEVERITY_OF_BAIT[event],
          expected: { bait_id: baitId, credential_id: bait.credential_id, planted_at: bait.planted_at },
          observed: { standing, reason },
        });
      return status === null
        ? { reason }
        : { status, reason, content: null, ended_at: this.#deps.clock().toISOString() };
    });
  }

  /**
   * Records reads, including those of bait that is not confirmed yet or has ended.
   * @returns the number of reads of this endpoint's bait.
   * @throws Error if a read cannot be recorded; the sensor then reports it again.
   */
  async reads(endpointId: string, { reads }: BaitReads): Promise<{ taken: number }> {
    const { database, clock, baitTraps } = this.#deps;
    const endpoint = await findEndpoint(database, endpointId);
    let taken = 0;
    for (const read of reads) {
      const bait = await findBait(database, endpoint, read.bait_id).catch(unlessMissing);
      if (bait === null) continue;
      taken++;
      await baitTraps.recordRead(bait.credential_id, {
        // Limits the endpoint's clock to the time between the request for the bait and now.
        readAt: between(read.read_at, bait.asked_at, clock().toISOString()),
        sourceEventId: `${read.bait_id}/${read.event}`,
        path: bait.path,
        request: JSON.stringify({ endpoint_id: endpointId, ...read }),
      });
    }
    return { taken };
  }

  #change(
    endpointId: string,
    baitId: string,
    changeOf: (transaction: Transaction, bait: BaitRow, events: EventWriting) => Promise<Partial<BaitRow>>,
  ): Promise<Stands> {
    return this.#deps.database.write(async (transaction) => {
      const endpoint = await findEndpoint(transaction, endpointId);
      const bait = await findBait(transaction, endpoint, baitId);
      const events = await EventWriting.begin(transaction, this.#deps, endpoint, 'reports');
      const change = await changeOf(transaction, bait, events);
      if (Object.keys(change).length > 0) {
        await changeBait(transaction, bait, change);
        await events.write();
      }
      return { bait_id: baitId, status: change.status ?? bait.status };
    });
  }
}

function act(action: string, { bait_id, credential_id, path }: BaitRow, more: EndpointAct['more']): EndpointAct {
  return { action, of: ['bait', bait_id], more: { credential_id, path, ...more } };
}

function unlessMissing(error: unknown): null {
  if (error instanceof DomainError && error.code === 'not_found') return null;
  throw error;
}

function between(time: string, first: string, last: string): string {
  if (time < first) return first;
  return time > last ? last : time;
}
