import { hash, randomUUID } from 'node:crypto';
import type { AlertState } from '../alert-enums.ts';
import { type AuditLog, keptPlace } from '../audit/api.ts';
import type { Database, Transaction } from '../database/database.ts';
import { Together } from '../database/together.ts';
import { occurrenceToldByIam } from './aws/one-use.ts';
import type { DetectionsVersion } from './detections.ts';
import { TRAPS_STREAM } from './enums.ts';
import {
  changeDetection,
  type Detection,
  detectionsNear,
  insertDetection,
  insertOccurrences,
  isNewEvent,
  nextChange,
  type Occurrence,
  replaceOccurrence,
  type Trap,
  trapRow,
  triggerTrap,
} from './repository.ts';
import { belongsTo, GROUP_GAP_MS, LONGEST_DETECTION_MS, severityOf } from './rules.ts';
import { addTo, entryOfTouched, occurrenceOf, type Touched, useFacts, widen } from './touched.ts';
import { groupKeyOf, storable, type TrapUse } from './use.ts';

/** Records the uses that channels detect. Uses that arrive during a write share the next transaction. */
export class Uses {
  readonly #together: Together<TrapUse, Recorded | null>;
  readonly #deps: RecordingDeps;
  readonly #version: DetectionsVersion;
  /** Counts of records since the start of the process. */
  readonly done = { occurrences: 0, detections: 0 };

  constructor(database: Database, deps: RecordingDeps, version: DetectionsVersion) {
    this.#together = new Together(database, (transaction, uses) => recordUses(transaction, deps, uses));
    this.#deps = deps;
    this.#version = version;
  }

  /** @returns the effect of the use; null for an event that was recorded before. */
  async record(use: TrapUse): Promise<Recorded | null> {
    const recorded = await this.#together.do(use);
    this.#version.changed();
    if (recorded !== null) this.done.occurrences++;
    if (recorded?.isNew === true) this.done.detections++;
    return recorded;
  }

  /**
   * Records uses in the caller's transaction. Locks the number of changes and the head of the stream `traps`, so call
   * this after locking other rows and before appending to other streams.
   */
  recordIn(transaction: Transaction, uses: readonly TrapUse[]): Promise<(Recorded | null)[]> {
    return recordUses(transaction, this.#deps, uses);
  }

  /** Resolves when no use is waiting or being written. */
  settled(): Promise<void> {
    return this.#together.settled();
  }
}

/** Effect of a recorded use. */
export interface Recorded {
  detection_id: string;
  /** True if the use is the first of its detection. */
  isNew: boolean;
}

interface RecordingDeps {
  log: AuditLog;
  clock: () => Date;
  /** Sends an alert of a detection, in its transaction. @returns the state of the alert. */
  alert(transaction: Transaction, detection: Detection, trap: Trap): Promise<AlertState>;
}

/**
 * Records uses of traps: occurrences, detections, and entries of the stream `traps`, all or none.
 * @returns the effect of each use; null for an event that was recorded before.
 */
async function recordUses(
  transaction: Transaction,
  deps: RecordingDeps,
  uses: readonly TrapUse[],
): Promise<(Recorded | null)[]> {
  const recording = new Recording(transaction, deps, await nextChange(transaction));
  const recorded: (Recorded | null)[] = [];
  for (const use of uses) recorded.push(await recording.add(storable(use)));
  await recording.write();
  return recorded;
}

class Recording {
  readonly #transaction: Transaction;
  readonly #deps: RecordingDeps;
  readonly #changeNo: number;
  readonly #traps = new Map<number, Trap>();
  /** Detections by trap and group key. */
  readonly #near = new Map<string, Touched[]>();

  constructor(transaction: Transaction, deps: RecordingDeps, changeNo: number) {
    this.#transaction = transaction;
    this.#deps = deps;
    this.#changeNo = changeNo;
  }

  async add(use: TrapUse): Promise<Recorded | null> {
    if (use.sourceEventId !== null && !(await isNewEvent(this.#transaction, use.channel, use.sourceEventId)))
      return null;
    const trap = await this.#trap(use.trapNo);
    const groupKey = groupKeyOf(use);
    const near = await this.#detectionsOf(trap, groupKey, use.eventTime);
    const known = near.find(({ detection: { first_seen: first, last_seen: last } }) =>
      belongsTo(use.eventTime, { first, last }),
    );
    const told = await this.#toldByIam(trap, known, use);
    if (told !== null) return this.#trace(told, { use, groupKey, near });
    if (known !== undefined) {
      addTo(known, use);
      return { detection_id: known.detection.detection_id, isNew: false };
    }
    const first = occurrenceOf(use, 1);
    const detection = this.#begin(use, groupKey, first);
    near.push({ detection, trap, isNew: true, deepened: false, worsened: false, traced: false, occurrences: [first] });
    return { detection_id: detection.detection_id, isNew: true };
  }

  /** Writes everything that was added. Locks the stream's head last: see `appendIn`. */
  async write(): Promise<void> {
    const all = new Set([...this.#near.values()].flat());
    const touched = [...all].filter(({ occurrences, traced }) => occurrences.length > 0 || traced);
    for (const { detection, trap, isNew } of touched) await triggerTrap(this.#transaction, trap, detection, isNew);
    const told = touched.filter((each) => each.isNew || each.deepened || each.worsened || each.traced);
    for (const { detection, trap, isNew, deepened } of told)
      if (isNew || deepened) detection.alert_state = await this.#deps.alert(this.#transaction, detection, trap);
    const entries = told.map(entryOfTouched);
    const places = await this.#deps.log.appendIn(this.#transaction, TRAPS_STREAM, entries);
    for (const [at, each] of told.entries()) if (each.isNew) Object.assign(each.detection, keptPlace(places[at]));
    for (const { detection, isNew, occurrences } of touched) {
      detection.change_no = this.#changeNo;
      const { detection_no, ...row } = detection;
      const detectionNo = isNew ? await insertDetection(this.#transaction, detection) : detection_no;
      if (!isNew) await changeDetection(this.#transaction, detection, row);
      await insertOccurrences(this.#transaction, { detectionNo, total: detection.occurrences, occurrences });
    }
  }

  async #trap(trapNo: number): Promise<Trap> {
    const trap = this.#traps.get(trapNo) ?? (await trapRow(this.#transaction, trapNo));
    this.#traps.set(trapNo, trap);
    return trap;
  }

  /** Returns the detections that a use may belong to, including changes from this transaction. */
  async #detectionsOf(trap: Trap, groupKey: string, eventTime: string): Promise<Touched[]> {
    const key = `${trap.trap_no}/${groupKey}`;
    const known = this.#near.get(key);
    if (known !== undefined) return known;
    const rows = await detectionsNear(this.#transaction, {
      trapNo: trap.trap_no,
      groupKey,
      since: new Date(Date.parse(eventTime) - LONGEST_DETECTION_MS - GROUP_GAP_MS).toISOString(),
    });
    const untouched = { isNew: false, deepened: false, worsened: false, traced: false };
    const near = rows.map((detection) => ({ ...untouched, detection, trap, occurrences: [] }));
    this.#near.set(key, near);
    return near;
  }

  /** Finds the use that IAM reported before CloudTrail did, so that it is counted once. */
  async #toldByIam(trap: Trap, known: Touched | undefined, use: TrapUse): Promise<Told | null> {
    if (use.channel !== 'aws_cloudtrail') return null;
    const unnamed = await this.#detectionsOf(trap, groupKeyOf({ sourceIp: null, userAgent: null }), use.eventTime);
    const isSame = ({ detection: { channel, service } }: Touched) =>
      channel === 'aws_last_used' && (service === null || service === use.service);
    for (const touched of known === undefined ? unnamed.filter(isSame) : [known]) {
      const { detection_no } = touched.detection;
      const number = await occurrenceToldByIam(this.#transaction, trap, detection_no, use.eventTime);
      if (number !== null) return { touched, number };
    }
    return null;
  }

  async #trace(
    { touched, number }: Told,
    { use, groupKey, near }: { use: TrapUse; groupKey: string; near: Touched[] },
  ): Promise<Recorded> {
    const { detection } = touched;
    await replaceOccurrence(this.#transaction, detection.detection_no, occurrenceOf(use, number));
    if (detection.channel === 'aws_last_used') {
      Object.assign(detection, useFacts(use), {
        group_key: groupKey,
        request_sha256: hash('sha256', use.request, 'hex'),
      });
      widen(detection, use.eventTime);
      near.push(touched);
      touched.traced = true;
    }
    return { detection_id: detection.detection_id, isNew: false };
  }

  #begin(use: TrapUse, groupKey: string, { request_sha256 }: Occurrence): Detection {
    return {
      detection_no: 0,
      change_no: 0,
      detection_id: randomUUID(),
      trap_no: use.trapNo,
      group_key: groupKey,
      depth: use.depth,
      severity: severityOf(use),
      ...useFacts(use),
      auth_verified: use.authVerified === null ? null : Number(use.authVerified),
      request_sha256,
      detected_at: this.#deps.clock().toISOString(),
      first_seen: use.eventTime,
      last_seen: use.eventTime,
      occurrences: 1,
      status: 'open',
      acknowledged_by: null,
      acknowledged_at: null,
      alert_state: 'none',
      alert_attempts: 0,
      entry_sequence: 0,
      entry_hash: '',
      settled_at: null,
    };
  }
}

/** Use that another channel reported before. */
interface Told {
  touched: Touched;
  /** Number of its occurrence. */
  number: number;
}
