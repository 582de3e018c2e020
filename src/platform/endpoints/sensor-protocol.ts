import type { ReportHead } from '../../sensor/report/head.ts';
import { isKeyProved } from '../../sensor/report/signature.ts';
import { DomainError, invalidField } from '../errors.ts';
import { rowInserter } from '../rows.ts';
import { baitForSensor } from './bait/rows.ts';
import type { BaitDeps } from './deps.ts';
import { endpointActor } from './entries.ts';
import { EventWriting } from './event-writing.ts';
import { changeEndpoint, findEndpoint, nextOf, scanRow } from './host-rows.ts';
import { severityOfChain } from './rules.ts';
import { ENDPOINT_TABLES } from './tables.ts';

const insertKey = rowInserter(ENDPOINT_TABLES, 'endpoint_keys');

/** Answers the requests of the sensor on an endpoint. */
export class SensorProtocol {
  readonly #deps: BaitDeps;

  constructor(deps: BaitDeps) {
    this.#deps = deps;
  }

  /** Returns the scan settings, and the required values of the next report. @throws DomainError `not_found`. */
  async settings(endpointId: string) {
    const { database } = this.#deps;
    const endpoint = await findEndpoint(database, endpointId);
    const { name, scan_interval_seconds, public_key, last_scan_no, sequence } = endpoint;
    const last = last_scan_no === null || sequence === 0 ? null : await scanRow(database, last_scan_no);
    return {
      endpoint_id: endpointId,
      name,
      scan_interval_seconds,
      public_key,
      next: nextOf(endpoint),
      bait: await baitForSensor(this.#deps, endpoint),
      roots: JSON.parse(endpoint.roots) as string[],
      other_filesystems: JSON.parse(endpoint.other_filesystems) as string[],
      last_root_hash: last === null ? null : (JSON.parse(last.head) as ReportHead).root_hash,
    };
  }

  /**
   * Binds the sensor's key to its chain of reports, once.
   * @throws DomainError `invalid_request` if the proof is not by the key; `key_changed`, with an event, if another key
   * is bound.
   */
  async bindKey(endpointId: string, { public_key, proof }: { public_key: string; proof: string }) {
    const { database, clock } = this.#deps;
    const outcome = await database.write(async (transaction) => {
      const endpoint = await findEndpoint(transaction, endpointId);
      if (endpoint.public_key === public_key) return { bound: false };
      if (!isKeyProved({ endpoint_id: endpointId, nonce: endpoint.nonce, public_key }, proof))
        throw invalidField('proof', 'is not a signature by the key over this endpoint and its nonce');
      const events = await EventWriting.begin(transaction, this.#deps, endpoint, 'reports');
      if (endpoint.public_key !== null) {
        events.raiseOfReports({
          type: 'key_changed',
          severity: severityOfChain('key_changed'),
          expected: { public_key: endpoint.public_key },
          observed: { public_key },
        });
        await events.write();
        return null;
      }
      await changeEndpoint(transaction, endpoint, { public_key });
      const { endpoint_no, chain } = endpoint;
      await insertKey(transaction, { endpoint_no, chain, public_key, bound_at: clock().toISOString() });
      events.entries.add(endpointActor(endpointId), {
        action: 'endpoint.key_bound',
        of: ['endpoint', endpointId],
        more: { public_key, chain },
      });
      await events.write();
      return { bound: true };
    });
    if (outcome !== null) return { public_key, ...outcome };
    throw new DomainError(
      'key_changed',
      'another key is bound to this endpoint; if the machine was reinstalled, start a new chain: POST /hosts/ID/restart',
    );
  }
}
