import { randomUUID } from 'node:crypto';
import { uptime } from 'node:os';
import type { Database, Reader, Transaction } from '../database/database.ts';
import { DomainError } from '../errors.ts';
import type { ClockTables } from './tables.ts';

/**
 * Maximum difference between clocks that are relied on: between those of two processes, and between the clock of a
 * machine and its uptime. A virtual machine that was paused sees its clock jump ahead of the uptime; the uptime includes
 * a suspension of the machine.
 */
export const CLOCKS_APART_MS = 15 * 60_000;

/** Maximum time for which the platform may have been off. */
const OFF_MS = 400 * 24 * 60 * 60_000;

/** Time between writes of the latest time. */
const WRITE_MS = 60_000;

/** Seconds after which a client may repeat a request. */
const RETRY_SECONDS = 60;

/** Sources of time, in milliseconds. Tests replace them. */
export interface ClockSources {
  /** Clock of this machine: time since 1970. */
  wall(): number;
  /** Clock that nobody sets, and that includes suspension. */
  steady(): number;
}

const OF_MACHINE: ClockSources = { wall: () => Date.now(), steady: () => uptime() * 1000 };

interface Reading {
  wall: number;
  steady: number;
}

/** Time that was relied on before the clock was set back. A clock that was behind may go ahead to it again. */
interface LaterTime extends Reading {
  /** Time by which the right time may be later than this one, continued. */
  apart: number;
}

/** Jump of the machine's clock. */
export interface ClockJump {
  /** Reading of the machine's clock. */
  reads: Date;
  /** Time of the platform. */
  expected: Date;
}

/**
 * Clock of the platform: that of the machine, unless it jumped ahead. From then on it continues from the time before
 * the jump, until the clock of the machine is right again or a person accepts the jump. A clock that is set back is
 * followed at once, and also when it goes ahead again to the time before that.
 */
export class PlatformClock {
  readonly #sources: ClockSources;
  readonly #process = randomUUID();
  /** Last reading that was relied on. */
  #relied: Reading;
  /** Null unless the clock is behind it. */
  #later: LaterTime | null = null;
  /** Row as this process last read it. */
  #seenAt: string | null = null;
  /** Steady times of the last look and of the last write. */
  #lookedAt = Number.NEGATIVE_INFINITY;
  #wroteAt = Number.NEGATIVE_INFINITY;

  constructor(sources: ClockSources = OF_MACHINE) {
    this.#sources = sources;
    this.#relied = this.#read();
  }

  /** Returns the time of the platform. */
  readonly now = (): Date => {
    const reading = this.#read();
    if (!this.#isRight(reading)) return new Date(continued(this.#relied, reading));
    this.#rely(reading);
    return new Date(reading.wall);
  };

  /** Jump that nobody has accepted; null if the clock of the machine is relied on. */
  get jump(): ClockJump | null {
    const reading = this.#read();
    if (this.#isRight(reading)) return null;
    return { reads: new Date(reading.wall), expected: new Date(continued(this.#relied, reading)) };
  }

  /** @throws DomainError `clock_ahead` if the time is not known, so that entries of others would get a wrong one. */
  requireKnown(): void {
    const { jump } = this;
    if (jump === null) return;
    const said = `${sayJump(jump)}; nothing was recorded; set the clock, or, if it is right, run: evidence-platform clock accept`;
    throw new DomainError('clock_ahead', said, { retry_after: RETRY_SECONDS });
  }

  /** Compares the clock with the latest time of the platform, which may have been off since. */
  async begin(database: Database): Promise<void> {
    const row = await readRow(database);
    if (row === undefined) return this.#write(database);
    this.#seenAt = row.seen_at;
    const last = Date.parse(row.seen_at);
    const { wall, steady } = this.#read();
    if (wall - last > OFF_MS) this.#relied = { wall: last, steady };
    if (last - wall > CLOCKS_APART_MS) this.#later = { wall: last, steady, apart: OFF_MS };
  }

  /**
   * Compares the clock with those of other processes of the platform, and writes the latest time. Of two clocks, the
   * one that is ahead is not relied on. The same time from elsewhere accepts a jump.
   */
  async look(database: Database): Promise<void> {
    const row = await readRow(database);
    const reading = this.#read();
    const isRecent = row !== undefined && row.seen_at !== this.#seenAt && reading.steady - this.#lookedAt < WRITE_MS;
    if (isRecent && row.seen_by !== this.#process) {
      const other = Date.parse(row.seen_at);
      if (reading.wall - other > CLOCKS_APART_MS) this.#relied = { ...reading, wall: other };
      else if (other - reading.wall <= CLOCKS_APART_MS) this.#accept(reading);
    }
    this.#seenAt = row?.seen_at ?? null;
    this.#lookedAt = reading.steady;
    if (this.jump === null && reading.steady - this.#wroteAt >= WRITE_MS) await this.#write(database);
  }

  /**
   * Accepts the clock of this machine, also for the processes of the platform that read about the same time.
   * @returns the time on which the platform relied last.
   */
  async accept(transaction: Transaction): Promise<string | null> {
    const row = await readRow(transaction);
    this.#accept(this.#read());
    await writeRow(transaction, this.#row());
    return row?.seen_at ?? null;
  }

  #read(): Reading {
    return { wall: this.#sources.wall(), steady: this.#sources.steady() };
  }

  #isRight(reading: Reading): boolean {
    if (reading.wall - continued(this.#relied, reading) <= CLOCKS_APART_MS) return true;
    return this.#later !== null && reading.wall - continued(this.#later, reading) <= this.#later.apart;
  }

  #rely(reading: Reading): void {
    const expected = continued(this.#relied, reading);
    const isBehind = (time: number) => time - reading.wall > CLOCKS_APART_MS;
    if (this.#later === null) {
      if (isBehind(expected)) this.#later = { ...reading, wall: expected, apart: CLOCKS_APART_MS };
    } else if (!isBehind(continued(this.#later, reading))) this.#later = null;
    this.#relied = reading;
  }

  #accept(reading: Reading): void {
    this.#relied = reading;
    this.#later = null;
  }

  async #write(database: Database): Promise<void> {
    const row = this.#row();
    await database.write((transaction) => writeRow(transaction, row));
    this.#wroteAt = this.#read().steady;
    this.#seenAt = row.seen_at;
  }

  #row() {
    const reading = this.#read();
    // The time before the clock was set back, so that the next start knows it.
    const later = this.#later === null ? reading.wall : continued(this.#later, reading);
    return { seen_at: new Date(Math.max(reading.wall, later)).toISOString(), seen_by: this.#process };
  }
}

/** Returns a time as it is at a later reading, by the clock that nobody sets. */
function continued(from: Reading, { steady }: Reading): number {
  return from.wall + steady - from.steady;
}

/** Says which times differ. */
export function sayJump({ reads, expected }: ClockJump): string {
  return `the clock of this machine reads ${reads.toISOString()}, but it should be about ${expected.toISOString()}`;
}

function readRow(reader: Reader) {
  return reader.tables<ClockTables>().selectFrom('clock').select(['seen_at', 'seen_by']).executeTakeFirst();
}

async function writeRow(transaction: Transaction, row: { seen_at: string; seen_by: string }): Promise<void> {
  const insert = transaction
    .tables<ClockTables>()
    .insertInto('clock')
    .values({ id: 1, ...row });
  await insert.onConflict((conflict) => conflict.column('id').doUpdateSet(row)).execute();
}
