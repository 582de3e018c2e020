import { withoutByteOrderMark } from '../../core/bytes.ts';
import { EvidenceError } from '../../core/errors.ts';
import { canonicalize, type Json } from '../../core/json/canonical.ts';
import { parseExactJson } from '../../core/json/exact.ts';
import { itemsOf } from '../profile/answers.ts';
import type { Description } from '../profile/description.ts';
import { digestReader } from '../profile/digest-text.ts';
import { RoleFields } from '../profile/fields.ts';
import { valueAt } from '../profile/path.ts';
import type { EntryDescription, RecordsDescription, SupplementsDescription } from '../profile/supplements.ts';
import { toTimestamp } from '../profile/time.ts';
import type { RecordKind } from './files.ts';

/** Record of another service, as far as it is judged. */
export interface SupplementRecord {
  kind: RecordKind;
  id: string;
  /** RFC 3339; null for a record about the moment of the request. */
  time: string | null;
  /** Entry that it names; null if it names none. */
  entry: NamedEntry | null;
  /** Fields that its entry must state, too, with their RFC 8785 text; null for an inexact number. */
  says: readonly (readonly [path: string, text: string | null])[];
  /** Value as received. */
  value: Json;
  /** True if every number of the answer is exactly the one that was written. */
  isExact: boolean;
}

export interface NamedEntry {
  streamId: string;
  sequence: number;
  /** Lower-case hex; null if the record does not state it. */
  digest: string | null;
  /** Stream in which the entry must be by the contract; null for any. */
  stream: string | null;
}

/** Returns a contract's description of the records of a kind; null if the service has none. */
export function describeRecords(supplements: SupplementsDescription, kind: RecordKind): RecordsDescription | null {
  const { traps, endpoints, agents } = supplements;
  if (kind === 'detections') return traps?.detections ?? null;
  if (kind === 'events' || kind === 'scans') return endpoints?.[kind] ?? null;
  return agents?.[kind] ?? null;
}

/** Parts of a contract by which records are read. */
type RecordContract = Pick<Description, 'name' | 'numbers' | 'digest' | 'supplements'>;

/**
 * Reads the records of one answer as received: a page of a list, or a document about one agent.
 * @throws EvidenceError `contract` if the answer violates the contract, or can be read in more than one way.
 */
export function readRecords(contract: RecordContract, kind: RecordKind, body: Uint8Array): SupplementRecord[] {
  const description = contract.supplements && describeRecords(contract.supplements, kind);
  if (description == null) throw new TypeError(`the contract "${contract.name}" describes no ${kind}`);
  const { value, isExact } = readAnswer(body, kind);
  const reader = new RecordReader(contract, kind, description, isExact);
  return itemsIn(description, value, kind).map((item) => reader.read(item));
}

/** @throws EvidenceError `contract`. */
function itemsIn(description: RecordsDescription, answer: Json, what: string): Json[] {
  if (description.items === undefined) return [answer];
  const items = itemsOf({ items: description.items }, answer);
  if (items === null) throw new EvidenceError('contract', `an answer with ${what} has no list "${description.items}"`);
  return items;
}

/** Reads the agents of a page of their list, each with its stream; null for an agent without one. */
export function readAgents(contract: RecordContract, body: Uint8Array): { agentId: string; streamId: string | null }[] {
  const list = contract.supplements?.agents?.agents;
  if (list === undefined) throw new TypeError(`the contract "${contract.name}" describes no agents`);
  const { value } = readAnswer(body, 'agents');
  const items = itemsOf(list, value);
  if (items === null) throw new EvidenceError('contract', `an answer with agents has no list "${list.items}"`);
  return items.map((item) => {
    const fields = new RoleFields('an agent', item, contract);
    const hasStream = fields.has(list.stream_id) && !fields.isNull(list.stream_id);
    return { agentId: fields.text(list.id), streamId: hasStream ? fields.text(list.stream_id) : null };
  });
}

/** @throws EvidenceError `contract` if two readers could see different values. */
export function readAnswer(body: Uint8Array, what: string): { value: Json; isExact: boolean } {
  const { value, ambiguity, inexact, inexactInteger } = parseExactJson(withoutByteOrderMark(body));
  const why = ambiguity ?? (inexactInteger === null ? null : `the number ${inexactInteger} changes when it is read`);
  if (why !== null)
    throw new EvidenceError('contract', `an answer with ${what} can be read in more than one way: ${why}`);
  return { value, isExact: inexact === null };
}

class RecordReader {
  readonly #contract: RecordContract;
  readonly #kind: RecordKind;
  readonly #description: RecordsDescription;
  readonly #isExact: boolean;
  readonly #digests: ReturnType<typeof digestReader>;

  constructor(contract: RecordContract, kind: RecordKind, description: RecordsDescription, isExact: boolean) {
    this.#contract = contract;
    this.#kind = kind;
    this.#description = description;
    this.#isExact = isExact;
    this.#digests = digestReader(contract.digest);
  }

  read(value: Json): SupplementRecord {
    const { id, time, entry } = this.#description;
    const fields = new RoleFields(`a record of ${this.#kind}`, value, this.#contract);
    return {
      kind: this.#kind,
      id: fields.read(id, (sent) => (typeof sent === 'string' && sent !== '' ? sent : null), 'a text'),
      time: time === null ? null : toTimestamp(fields, time, 'text'),
      entry: entry === null ? null : this.#entryOf(fields, value, entry),
      says: entry === null ? [] : this.#saysOf(value, entry),
      value,
      isExact: this.#isExact,
    };
  }

  #entryOf(fields: RoleFields, value: Json, { stream, stream_id, sequence, digest }: EntryDescription) {
    const isThere = (path: string) => fields.has(path) && !fields.isNull(path);
    if (!isThere(stream_id) || !isThere(sequence)) return null;
    return {
      streamId: fields.text(stream_id),
      sequence: fields.integer(sequence, 0),
      digest:
        digest === null || !isThere(digest)
          ? null
          : fields.read(digest, (sent) => this.#digests.digest(sent), this.#digests.shape),
      stream: stream === null ? null : fillFields(stream, value),
    };
  }

  #saysOf(value: Json, { says, may_say }: EntryDescription): [path: string, text: string | null][] {
    const members = [...Object.entries(says), ...Object.entries(may_say)];
    return members.map(([own, ofEntry]) => [ofEntry, comparableText(valueAt(value, own), this.#isExact)]);
  }
}

/**
 * Returns a value in the form in which it is compared: RFC 8785, with absent as null. Returns null if the value holds a
 * number that may differ from the one written.
 * @param isExact true if each number of the source text is exactly the one that was written.
 */
export function comparableText(value: Json | undefined, isExact: boolean): string | null {
  if (!isExact && holdsNumber(value)) return null;
  return canonicalize(value ?? null);
}

function holdsNumber(value: Json | undefined): boolean {
  if (typeof value === 'number') return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsNumber);
}

/**
 * Fills fields of a record into a template. A field that the record lacks stays a placeholder, which is in no stream's
 * id.
 */
function fillFields(template: string, record: Json): string {
  return template.replace(/\{([^{}]+)\}/g, (name, path: string) => {
    const value = valueAt(record, path);
    return typeof value === 'string' ? value : name;
  });
}

/** Returns a function that reports whether a record is in a half-open period. */
export function recordsOfPeriod({ from, to }: { from: string | null; to: string | null }) {
  const [first, end] = [from === null ? -Infinity : Date.parse(from), to === null ? Infinity : Date.parse(to)];
  return ({ time }: Pick<SupplementRecord, 'time'>): boolean => {
    if (time === null) return true;
    const at = Date.parse(time);
    return at >= first && at < end;
  };
}
