import { randomUUID } from 'node:crypto';
import { utf8Bytes } from '../../core/bytes.ts';
import { EvidenceError } from '../../core/errors.ts';
import type { Json } from '../../core/json/canonical.ts';
import { RowMapBuilder } from '../../core/rows/map.ts';
import { RowsBuilder } from '../../core/rows/rows.ts';
import type { LongMember } from '../model/schemas.ts';
import { parseRecord, toRecord } from './record-bytes.ts';

/** Maximum lengths in UTF-16 code units: of one row, and of everything that is no row. */
const MAX_ROW = 8 * 2 ** 20;
const MAX_REST = 16 * 2 ** 20;

/** Long member that was found, and its rows so far. */
interface Found {
  member: LongMember;
  /** Placeholder for the rows. */
  marker: string;
  rows: RowsBuilder<unknown> | RowMapBuilder<unknown>;
}

/**
 * Cuts the rows of long members out of a record with the layout of `recordPieces`. The rest is parsed as one text, with
 * a random marker in place of the rows, which proves where in the record they were.
 */
export class RowCutter {
  readonly #key: string;
  readonly #members: readonly LongMember[];
  readonly #found: Found[] = [];
  readonly #rest: string[] = [];
  #restLength = 0;
  #open: Found | null = null;
  /** Lines of the current row. */
  #row: string[] = [];
  #rowLength = 0;
  /** Position in the list: a row must come first or follow a comma. */
  #place: 'first' | 'next' | 'after' = 'first';

  /** @param key of the record, for errors. */
  constructor(members: readonly LongMember[], key: string) {
    this.#members = members;
    this.#key = key;
  }

  /** @param line without its line feed. @throws EvidenceError `unreadable`. */
  take(line: string): void {
    if (this.#open === null) this.#takeRest(line);
    else this.#takeInside(this.#open, line);
  }

  /**
   * Ends the record. @returns the record with empty long members.
   * @throws EvidenceError `unreadable`.
   */
  finish(): Json {
    if (this.#open !== null) throw this.#wrong('ends within a list');
    const value = parseRecord(utf8Bytes(this.#rest.join('\n')), this.#key);
    for (const { member, marker } of this.#found) {
      const holder = holderOf(value, member);
      const name = nameOf(member);
      const stated = holder !== null && Object.hasOwn(holder, name) ? holder[name] : null;
      const isThere = JSON.stringify(stated) === (member.kind === 'list' ? `["${marker}"]` : `{"${marker}":0}`);
      if (holder === null || !isThere) throw this.#wrong(`has rows of "${name}" where none belong`);
      holder[name] = member.kind === 'list' ? [] : {};
    }
    return value;
  }

  /** Puts the rows into the record that was made from the result of `finish`. */
  attachTo(record: object): void {
    for (const { member, rows } of this.#found) {
      const holder = holderOf(record, member);
      if (holder !== null) Object.assign(holder, { [nameOf(member)]: rows.finish() });
    }
  }

  #takeRest(line: string): void {
    this.#restLength += line.length + 1;
    if (this.#restLength > MAX_REST) throw this.#wrong(`has more than ${MAX_REST} characters beside its rows`);
    this.#rest.push(line);
    const member = this.#members.find((one) => line === beginningOf(one));
    if (member === undefined) return;
    const marker = randomUUID();
    const rows = member.kind === 'list' ? new RowsBuilder() : new RowMapBuilder();
    this.#open = { member, marker, rows };
    this.#place = 'first';
    this.#found.push(this.#open);
    this.#rest.push(member.kind === 'list' ? `"${marker}"` : `"${marker}": 0`);
  }

  #takeInside(open: Found, line: string): void {
    const { member } = open;
    const indent = '  '.repeat(member.path.length + 1);
    if (this.#row.length === 0) {
      const close = `${indent.slice(2)}${member.kind === 'list' ? ']' : '}'}`;
      if (this.#place !== 'next' && (line === close || line === `${close},`)) {
        this.#open = null;
        this.#takeRest(line);
        return;
      }
      const begins = line.startsWith(`${indent}${member.kind === 'list' ? '{' : '"'}`);
      if (this.#place === 'after' || !begins)
        throw this.#wrong('is not laid out as a record of more than 8 MB must be');
    }
    this.#rowLength += line.length + 1;
    if (this.#rowLength > MAX_ROW) throw this.#wrong(`has a row of more than ${MAX_ROW} characters`);
    this.#row.push(line);
    const isOneLine = this.#row.length === 1 && !line.endsWith('{');
    if (!isOneLine && line !== `${indent}}` && line !== `${indent}},`) return;
    this.#place = line.endsWith(',') ? 'next' : 'after';
    const text = this.#row.join('\n');
    this.#takeRow(open, this.#place === 'next' ? text.slice(0, -1) : text);
    this.#row = [];
    this.#rowLength = 0;
  }

  #takeRow({ member, rows }: Found, text: string): void {
    const name = `${this.#key}, ${member.path.join('.')}[${rows.length}],`;
    if (rows instanceof RowsBuilder) {
      rows.push(toRecord(member.schema, parseRecord(utf8Bytes(text), name), name));
      return;
    }
    const [pair, ...more] = Object.entries(parseRecord(utf8Bytes(`{${text}}`), name) as Record<string, Json>);
    if (pair === undefined || more.length > 0) throw this.#wrong('is not laid out as records are');
    const isNew = rows.add(pair[0], toRecord(member.schema, pair[1], name));
    if (!isNew) throw this.#wrong(`has members of "${nameOf(member)}" that are not in their order, or twice`);
  }

  #wrong(what: string): EvidenceError {
    return new EvidenceError('unreadable', `${this.#key} ${what}`);
  }
}

/** Returns the line that begins a nonempty member. */
function beginningOf({ path, kind }: LongMember): string {
  return `${'  '.repeat(path.length)}${JSON.stringify(path.at(-1))}: ${kind === 'list' ? '[' : '{'}`;
}

function nameOf({ path }: LongMember): string {
  return path[path.length - 1] as string;
}

/** Returns the object that holds a member; null if there is none. */
function holderOf(record: unknown, { path }: LongMember): Record<string, Json> | null {
  let holder: unknown = record;
  for (const name of path.slice(0, -1)) holder = isObject(holder) && Object.hasOwn(holder, name) ? holder[name] : null;
  return isObject(holder) ? (holder as Record<string, Json>) : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
