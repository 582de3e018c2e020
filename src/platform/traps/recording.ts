import { hash, randomUUID } from 'node:crypto';
import { type AlertState, isLess } from '../alerts/words.ts';
import type { AuditLog, EntryPlace } from '../audit/api.ts';
import type { Transaction } from '../database/database.ts';
import { deepenedEntry, detectedEntry } from './entries.ts';
import {
  changeDetection,
  type Detection,
  detectionsNear,
  insertDetection,
  insertOccurrences,
  isNewEvent,
  nextChange,
  type Occurrence,
  type Trap,
  trapRow,
  triggerTrap,
} from './repository.ts';
import { belongsTo, FOLD_MS, isDeeper, LONGEST_DETECTION_MS, severityOf } from './rules.ts';
import { foldOf, storable, type TrapUse } from './use.ts';
import { TRAPS_STREAM } from './words.ts';

/** What a use led to. */
export interface Recorded {
  detection_id: string;
  /** It is the first of its detection. */
  isNew: boolean;
}

export interface RecordingMeans {
  log: AuditLog;
  clock: () => Date;
  /** Has people told of a detection, in the transaction that has it. @returns how its alert stands. */
  alert(transaction: Transaction, detection: Detection, trap: Trap): Promise<AlertState>;
}

/**
 * Records what was done with traps: occurrences, detections, and entries of the stream `traps`, all of it or nothing.
 * @returns for each use what it led to; null for an event that was recorded before.
 */
export async function recordUses(
  transaction: Transaction,
  means: RecordingMeans,
  uses: readonly TrapUse[],
): Promise<(Recorded | null)[]> {
  const recording = new Recording(transaction, means, await nextChange(transaction));
  const recorded: (Recorded | null)[] = [];
  for (const use of uses) recorded.push(await recording.add(storable(use)));
  await recording.write();
  return recorded;
}

/** A detection that is new, or changed. */
interface Touched {
  detection: Detection;
  trap: Trap;
  isNew: boolean;
  /** Somebody went further than before. */
  deepened: boolean;
  occurrences: Occurrence[];
}

class Recording {
  readonly #transaction: Transaction;
  readonly #means: RecordingMeans;
  readonly #changeNo: number;
  readonly #traps = new Map<number, Trap>();
  /** By trap and fold. */
  readonly #near = new Map<string, Touched[]>();

  constructor(transaction: Transaction, means: RecordingMeans, changeNo: number) {
    this.#transaction = transaction;
    this.#means = means;
    this.#changeNo = changeNo;
  }

  async add(use: TrapUse): Promise<Recorded | null> {
    if (use.sourceEventId !== null && !(await isNewEvent(this.#transaction, use.channel, use.sourceEventId)))
      return null;
    const trap = await this.#trap(use.trapNo);
    const fold = foldOf(use);
    const near = await this.#detectionsOf(trap, fold, use.eventTime);
    const known = near.find(({ detection: { first_seen: first, last_seen: last } }) =>
      belongsTo(use.eventTime, { first, last }),
    );
    if (known !== undefined) return addTo(known, use);
    const first = occurrenceOf(use, 1);
    const detection = this.#begin(use, fold, first);
    near.push({ detection, trap, isNew: true, deepened: false, occurrences: [first] });
    return { detection_id: detection.detection_id, isNew: true };
  }

  /** Writes all that was added. The stream's head is taken last: see `appendIn`. */
  async write(): Promise<void> {
    const touched = [...this.#near.values()].flat().filter(({ occurrences }) => occurrences.length > 0);
    for (const { detection, trap, isNew } of touched) await triggerTrap(this.#transaction, trap, detection, isNew);
    const told = touched.filter(({ isNew, deepened }) => isNew || deepened);
    for (const { detection, trap } of told)
      detection.alert_state = await this.#means.alert(this.#transaction, detection, trap);
    const entries = told.map(({ detection, trap, isNew }) =>
      isNew ? detectedEntry(detection, trap) : deepenedEntry(detection, trap),
    );
    const places = await this.#means.log.appendIn(this.#transaction, TRAPS_STREAM, entries);
    for (const [at, each] of told.entries()) if (each.isNew) Object.assign(each.detection, entryOf(places[at]));
    for (const { detection, isNew, occurrences } of touched) {
      detection.change_no = this.#changeNo;
      const detectionNo = isNew
        ? await insertDetection(this.#transaction, detection)
        : await changeDetection(this.#transaction, detection);
      await insertOccurrences(this.#transaction, { detectionNo, total: detection.occurrences, occurrences });
    }
  }

  async #trap(trapNo: number): Promise<Trap> {
    const trap = this.#traps.get(trapNo) ?? (await trapRow(this.#transaction, trapNo));
    this.#traps.set(trapNo, trap);
    return trap;
  }

  /** Those that the use may belong to, and what was added to them here. */
  async #detectionsOf(trap: Trap, fold: string, eventTime: string): Promise<Touched[]> {
    const key = `${trap.trap_no}/${fold}`;
    const known = this.#near.get(key);
    if (known !== undefined) return known;
    const rows = await detectionsNear(this.#transaction, {
      trapNo: trap.trap_no,
      fold,
      since: new Date(Date.parse(eventTime) - LONGEST_DETECTION_MS - FOLD_MS).toISOString(),
    });
    const near = rows.map((detection) => ({ detection, trap, isNew: false, deepened: false, occurrences: [] }));
    this.#near.set(key, near);
    return near;
  }

  #begin(use: TrapUse, fold: string, { request_sha256 }: Occurrence): Detection {
    return {
      detection_no: 0,
      change_no: 0,
      detection_id: randomUUID(),
      trap_no: use.trapNo,
      fold,
      depth: use.depth,
      severity: severityOf(use),
      channel: use.channel,
      source_event_id: use.sourceEventId,
      source_ip: use.sourceIp,
      user_agent: use.userAgent,
      action: use.action,
      service: use.service,
      region: use.region,
      auth_verified: use.authVerified === null ? null : Number(use.authVerified),
      request_sha256,
      detected_at: this.#means.clock().toISOString(),
      event_time: use.eventTime,
      first_seen: use.eventTime,
      last_seen: use.eventTime,
      occurrences: 1,
      status: 'open',
      acknowledged_by: null,
      acknowledged_at: null,
      alert_state: 'none',
      alert_attempts: 0,
      entry_id: '',
      entry_sequence: 0,
      settled_at: null,
    };
  }
}

function addTo(known: Touched, use: TrapUse): Recorded {
  const { detection } = known;
  detection.occurrences += 1;
  if (use.eventTime < detection.first_seen) detection.first_seen = use.eventTime;
  if (use.eventTime > detection.last_seen) detection.last_seen = use.eventTime;
  if (isDeeper(use.depth, detection.depth)) {
    known.deepened = true;
    detection.depth = use.depth;
    detection.action = use.action;
  }
  const severity = severityOf(use);
  if (isLess(detection.severity, severity)) detection.severity = severity;
  // Who once had the secret has it.
  if (use.authVerified === true) detection.auth_verified = 1;
  detection.settled_at = null;
  known.occurrences.push(occurrenceOf(use, detection.occurrences));
  return { detection_id: detection.detection_id, isNew: false };
}

function occurrenceOf(use: TrapUse, number: number): Occurrence {
  return {
    number,
    event_time: use.eventTime,
    depth: use.depth,
    action: use.action,
    source_event_id: use.sourceEventId,
    request_sha256: hash('sha256', use.request, 'hex'),
  };
}

function entryOf(place: EntryPlace | undefined): { entry_id: string; entry_sequence: number } {
  if (place === undefined) throw new Error('a detection has no entry');
  return { entry_id: place.entry_id, entry_sequence: place.sequence };
}
