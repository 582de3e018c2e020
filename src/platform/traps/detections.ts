import { placeToWire } from '../audit/api.ts';
import type { Database, Reader } from '../database/database.ts';
import { pick } from '../database/table.ts';
import { there } from '../errors.ts';
import { newestFirst } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import { recordAct, settledEntry } from './entries.ts';
import { type DetectionStatus, TRAPS_STREAM } from './enums.ts';
import type { TrapServiceDeps } from './making.ts';
import { changeDetection, lastChange, nextChange, type Occurrence, trapRow } from './repository.ts';
import { GROUP_GAP_MS } from './rules.ts';
import type { TrapTables } from './tables.ts';
import type { DetectionQuery, WireDetection } from './wire.ts';

interface DetectionsDeps extends Pick<TrapServiceDeps, 'database' | 'clock' | 'log'> {
  version: DetectionsVersion;
}

/** Maximum number of ended detections whose counts are recorded in one transaction. */
const SETTLED_AT_ONCE = 200;

/** Detections, for routes and pages. */
export class Detections {
  readonly #deps: DetectionsDeps;

  constructor(deps: DetectionsDeps) {
    this.#deps = deps;
  }

  /** Returns a number that grows with each change of any detection. */
  currentVersion(): Promise<number> {
    return this.#deps.version.current();
  }

  /** Lists detections, newest first. @throws DomainError `invalid_cursor`. */
  async list({ limit, cursor, ...filters }: DetectionQuery) {
    let detections = withTraps(this.#deps.database);
    const { from, to, ...equal } = filters;
    for (const name of ['credential_id', 'credential_type', 'channel', 'status', 'severity'] as const) {
      const value = equal[name];
      if (value !== undefined) detections = detections.where(name, '=', value);
    }
    if (from !== undefined) detections = detections.where('detected_at', '>=', from);
    if (to !== undefined) detections = detections.where('detected_at', '<', to);
    const numbered = { list: 'detections', table: 'detections', number: 'detection_no' } as const;
    const { page, next_cursor } = await newestFirst(detections, numbered, { limit, cursor });
    return { data: page.map((row) => toWire(row)), next_cursor };
  }

  /** Returns a detection with its kept occurrences. @throws DomainError `not_found`. */
  async find(detectionId: string) {
    const { database } = this.#deps;
    const row = await findWithTrap(database, detectionId);
    const occurrences = database.tables<TrapTables>().selectFrom('detection_occurrences').selectAll();
    const kept = await occurrences.where('detection_no', '=', row.detection_no).orderBy('number').execute();
    return { ...toWire(row), occurrences_kept: kept.map(occurrenceToWire) };
  }

  /** Sets the status of a detection. @throws DomainError `not_found`. */
  async setStatus(actor: Actor, detectionId: string, status: DetectionStatus) {
    const { database, clock, log, version } = this.#deps;
    await database.write(async (transaction) => {
      const change_no = await nextChange(transaction);
      const before = await findWithTrap(transaction, detectionId);
      if (before.status === status) return;
      const by =
        status === 'open'
          ? { acknowledged_by: null, acknowledged_at: null }
          : { acknowledged_by: actor.name, acknowledged_at: clock().toISOString() };
      await changeDetection(transaction, before, { status, change_no, ...by });
      const action = `detection.${status === 'open' ? 'reopened' : status}`;
      const more = { credential_id: before.credential_id, status, ...by };
      await recordAct(log, transaction, { actor, action, of: ['detection', detectionId], more });
    });
    version.changed();
    return this.find(detectionId);
  }

  /** Records the counts of ended detections as entries of the stream `traps`. */
  async settle(): Promise<void> {
    while ((await this.#settleSome()) === SETTLED_AT_ONCE);
  }

  async #settleSome(): Promise<number> {
    const { database, clock, log } = this.#deps;
    const now = clock();
    const ended = new Date(now.getTime() - GROUP_GAP_MS).toISOString();
    const unsettled = (reader: Reader) =>
      reader
        .tables<TrapTables>()
        .selectFrom('detections')
        .selectAll()
        .where('settled_at', 'is', null)
        .where('last_seen', '<', ended)
        .orderBy('last_seen')
        .limit(SETTLED_AT_ONCE);
    if ((await unsettled(database).execute()).length === 0) return 0;
    return database.write(async (transaction) => {
      const change_no = await nextChange(transaction);
      const detections = await unsettled(transaction).execute();
      const entries = [];
      for (const detection of detections) {
        await changeDetection(transaction, detection, { settled_at: now.toISOString(), change_no });
        entries.push(settledEntry(detection, await trapRow(transaction, detection.trap_no)));
      }
      await log.appendIn(transaction, TRAPS_STREAM, entries);
      return detections.length;
    });
  }
}

function withTraps(reader: Reader) {
  return reader
    .tables<TrapTables>()
    .selectFrom('detections')
    .innerJoin('traps', 'traps.trap_no', 'detections.trap_no')
    .selectAll('detections')
    .select(['credential_id', 'credential_type', 'plant_location', 'label', 'planted_at', 'created_at']);
}

async function findWithTrap(reader: Reader, detectionId: string): Promise<Joined> {
  const detection = await withTraps(reader).where('detection_id', '=', detectionId).executeTakeFirst();
  return there(detection, 'no detection has this ID');
}

function occurrenceToWire(row: Occurrence): Occurrence {
  return pick(row, ['number', 'event_time', 'depth', 'action', 'source_event_id', 'request_sha256']);
}

type Joined = Awaited<ReturnType<ReturnType<typeof withTraps>['executeTakeFirstOrThrow']>>;

function toWire(row: Joined): WireDetection {
  const { auth_verified, planted_at, created_at, first_seen, alert_state, alert_attempts } = row;
  return {
    ...pick(row, ['detection_id', 'credential_id', 'credential_type', 'plant_location', 'label', 'depth', 'severity']),
    ...pick(row, ['detected_at', 'event_time', 'channel', 'source_event_id', 'source_ip', 'user_agent', 'action']),
    ...pick(row, ['service', 'region', 'request_sha256', 'status', 'acknowledged_by', 'acknowledged_at']),
    ...pick(row, ['occurrences', 'first_seen', 'last_seen']),
    auth_verified: auth_verified === null ? null : auth_verified === 1,
    // The leak cannot have happened before the trap was planted.
    leaked_between: [planted_at ?? created_at, first_seen],
    alert: { state: alert_state, attempts: alert_attempts },
    entry: placeToWire(TRAPS_STREAM, row),
  };
}

/** Maximum delay before changes by other processes are seen here. */
const LATE_MS = 250;

/** Number of the last change of any detection, cached so that it is read at most a few times a second. */
export class DetectionsVersion {
  readonly #database: Database;
  #read: Promise<number> | null = null;
  #readAt = 0;

  constructor(database: Database) {
    this.#database = database;
  }

  current(): Promise<number> {
    const now = performance.now();
    if (this.#read === null || now - this.#readAt > LATE_MS) {
      this.#readAt = now;
      this.#read = lastChange(this.#database);
      // Discards a failed read, so that the next call tries again.
      this.#read.catch(() => this.changed());
    }
    return this.#read;
  }

  /** Discards the cached number, because this process has changed a detection. */
  changed(): void {
    this.#read = null;
  }
}
