import { randomUUID } from 'node:crypto';
import type { Reader, Transaction } from '../../database/database.ts';
import { pick } from '../../database/table.ts';
import { DomainError } from '../../errors.ts';
import type { Actor } from '../../http/principal.ts';
import { rowInserter } from '../../rows.ts';
import type { FileWatch } from '../../traps/api.ts';
import type { BaitDeps } from '../deps.ts';
import { recordEndpointAct } from '../entries.ts';
import { type Endpoint, findEndpoint, findEndpointInUse } from '../host-rows.ts';
import { ENDPOINT_TABLES, type EndpointTables } from '../tables.ts';
import type { NewBait, WireBait } from '../wire/bait.ts';
import { type BaitRow, baitOf, baitToWire, changeBait, findBait, seenBy } from './rows.ts';

/** Maximum number of bait files on one endpoint at a time, because its sensor checks each in every scan. */
const MOST_BAIT = 100;

/** Traps that sensors plant as files on endpoints, for routes and pages. */
export class Bait {
  readonly #deps: BaitDeps;

  constructor(deps: BaitDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a trap, and requests the sensor of an endpoint to plant its file.
   * @throws DomainError `not_found`; `conflict` if the path is under a root or already has bait; as
   * `BaitTraps.prepare`.
   */
  async plant(actor: Actor, endpointId: string, input: NewBait): Promise<WireBait> {
    const { database, clock, baitTraps, baitBox } = this.#deps;
    refuseInRoots(await findEndpointInUse(database, endpointId), input.path);
    const { credential_type, label, decoy, options } = input;
    const trap = { credential_type, label, decoy, options };
    const prepared = await baitTraps.prepare({ ...trap, plant_location: 'server', expires_at: null });
    return database.write(async (transaction) => {
      const endpoint = await findEndpointInUse(transaction, endpointId);
      const there = (await baitOf(transaction, endpoint)).filter(({ ended_at }) => ended_at === null);
      if (there.some(({ path }) => path === input.path))
        throw new DomainError('conflict', 'this path already has bait; remove it first');
      if (there.length >= MOST_BAIT)
        throw new DomainError('conflict', `the endpoint already has ${MOST_BAIT} pieces of bait; remove one first`);
      const credential_id = await prepared.store(transaction, actor);
      const bait_id = randomUUID();
      const row = await insertBait(transaction, {
        ...pick(input, ['path', 'mode', 'uid', 'gid', 'label', 'credential_type']),
        bait_id,
        endpoint_no: endpoint.endpoint_no,
        credential_id,
        content: baitBox.seal(Buffer.from(prepared.artifact.content), bait_id),
        status: 'asked',
        seen_by: '[]',
        asked_at: clock().toISOString(),
      });
      await this.#record(transaction, endpoint, { actor, action: 'bait.asked', bait: row });
      return baitToWire(row, endpoint);
    });
  }

  /**
   * Requests the sensor to remove a file if it is still the planted one. The trap remains. @throws DomainError
   * `not_found`, `conflict`.
   */
  async remove(actor: Actor, endpointId: string, baitId: string): Promise<WireBait> {
    return this.#deps.database.write(async (transaction) => {
      const endpoint = await findEndpoint(transaction, endpointId);
      const bait = await findBait(transaction, endpoint, baitId);
      if (bait.ended_at !== null) throw new DomainError('conflict', `the bait is already ${bait.status}`);
      const change = { status: 'leaving' as const, content: null };
      await changeBait(transaction, bait, change);
      await this.#record(transaction, endpoint, { actor, action: 'bait.unwanted', bait });
      return baitToWire({ ...bait, ...change }, endpoint);
    });
  }

  /** Lists bait, oldest first. @throws DomainError `not_found`. */
  async list(endpointId: string): Promise<{ data: WireBait[] }> {
    const { database } = this.#deps;
    const endpoint = await findEndpoint(database, endpointId);
    return { data: (await baitOf(database, endpoint)).map((row) => baitToWire(row, endpoint)) };
  }

  async #record(
    transaction: Transaction,
    { endpoint_id }: Endpoint,
    { actor, action, bait }: { actor: Actor; action: string; bait: BaitRow },
  ): Promise<void> {
    const { bait_id, credential_id, credential_type, path, mode } = bait;
    const more = { credential_id, credential_type, path, mode };
    await recordEndpointAct(transaction, this.#deps.log, endpoint_id, { actor, action, of: ['bait', bait_id], more });
  }
}

/**
 * Refuses bait under scanned roots, because a scan reads the file and reports its digest. @throws DomainError
 * `conflict`.
 */
function refuseInRoots({ roots }: Pick<Endpoint, 'roots'>, path: string): void {
  const root = (JSON.parse(roots) as string[]).find((each) => path.startsWith(each.endsWith('/') ? each : `${each}/`));
  if (root !== undefined)
    throw new DomainError(
      'conflict',
      `path: is under ${root}, which is scanned; choose a path outside the scanned folders`,
    );
}

const insertBait = rowInserter(ENDPOINT_TABLES, 'endpoint_bait');

type WatchedRow = Awaited<ReturnType<typeof watchedRows>>[number];

/** Returns for each planted trap whether a read of its file would be detected now. */
export async function baitWatches(reader: Reader): Promise<ReadonlyMap<string, FileWatch>> {
  return new Map((await watchedRows(reader)).map((row) => [row.credential_id, watchOf(row)]));
}

function watchedRows(reader: Reader) {
  return reader
    .tables<EndpointTables>()
    .selectFrom('endpoint_bait')
    .innerJoin('endpoints', 'endpoints.endpoint_no', 'endpoint_bait.endpoint_no')
    .select(['credential_id', 'status', 'seen_by', 'reason', 'name', 'stale_at'])
    .execute();
}

function watchOf({ name, status, stale_at, reason, ...row }: WatchedRow): FileWatch {
  const sensor = `The sensor of "${name}"`;
  if (status === 'asked') return { active: false, reason: `${sensor} has not planted it yet.` };
  if (status !== 'planted')
    return { active: false, reason: `On "${name}" it is ${status}${reason === null ? '' : `: ${reason}`}.` };
  if (stale_at !== null)
    return { active: false, reason: `${sensor} has been stale since ${stale_at}, so it would detect no reads.` };
  const signs = seenBy(row);
  if (signs.length === 0)
    return { active: false, reason: `${sensor} cannot detect reads: the file system records no access times.` };
  const when = signs.includes('inotify') ? 'at once or at its next scan' : 'at its next scan';
  return { active: true, reason: `${sensor} detects a read ${when}.` };
}
