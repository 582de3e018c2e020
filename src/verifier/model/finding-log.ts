import type { Severity } from './finding.ts';
import { findingSeverity, type StreamFinding, type StreamFindingCode } from './stream-finding.ts';

/** Maximum number of findings per claim that are kept in detail; the counts stay exact beyond it. */
export const KEPT_FINDINGS = 1000;

/** Codes whose findings in consecutive entries are merged into one range, because they add nothing new. */
const MERGED: ReadonlySet<StreamFindingCode> = new Set([
  'order/clock-backwards',
  'order/foreign-entry',
  'completeness/listing-differs',
  'content/mismatch',
  'content/ambiguous-json',
  'content/inexact-number',
  'seal/malformed',
  'seal/missing',
  'seal/mismatch',
  'seal/unknown-key',
]);

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'notice'];

/** Findings of one stream: merged if consecutive, counted exactly, kept up to `KEPT_FINDINGS` per claim. */
export class FindingLog {
  readonly #kept = new Map<string, StreamFinding[]>();
  /** Newest kept finding of each merged code. */
  readonly #last = new Map<StreamFindingCode, StreamFinding>();
  /** Numbers of findings by claim and severity. */
  readonly #counts = new Map<string, Record<Severity, number>>();

  /** @param count number of findings that this one stands for. */
  add(finding: StreamFinding, count = 1): void {
    this.#count(claimOf(finding.code), findingSeverity(finding.code), count);
    const last = this.#last.get(finding.code);
    if (last !== undefined && finding.sequence !== undefined && follows(last, finding.sequence))
      extend(last, finding.sequence);
    else this.#keep(claimOf(finding.code), { ...finding });
  }

  /** Adds a finding about one entry; `make` is called only if the finding is kept. */
  addAt(code: StreamFindingCode, sequence: number, make: () => StreamFinding): void {
    const last = this.#last.get(code);
    const isFollowing = last !== undefined && follows(last, sequence);
    const isFull = (this.#kept.get(claimOf(code))?.length ?? 0) >= KEPT_FINDINGS;
    if (!isFollowing && !isFull) {
      this.add(make());
      return;
    }
    this.#count(claimOf(code), findingSeverity(code), 1);
    if (isFollowing) extend(last, sequence);
  }

  #count(claim: string, severity: Severity, count: number): void {
    const counts = this.#counts.get(claim) ?? { error: 0, warning: 0, notice: 0 };
    counts[severity] += count;
    this.#counts.set(claim, counts);
  }

  /** Adds the findings and counts of another log, which stays unchanged. */
  addAll(other: FindingLog): void {
    for (const [claim, counts] of other.#counts)
      for (const severity of SEVERITIES) this.#count(claim, severity, counts[severity]);
    for (const [claim, findings] of other.#kept) for (const finding of findings) this.#keep(claim, { ...finding });
  }

  #keep(claim: string, finding: StreamFinding): void {
    const kept = this.#kept.get(claim) ?? [];
    this.#kept.set(claim, kept);
    if (kept.length >= KEPT_FINDINGS) return;
    kept.push(finding);
    if (MERGED.has(finding.code)) this.#last.set(finding.code, finding);
  }

  /** Returns the number of errors of a claim, counting each entry, including those beyond the kept findings. */
  errors(claim: string): number {
    return this.#counts.get(claim)?.error ?? 0;
  }

  total(): number {
    let total = 0;
    for (const counts of this.#counts.values()) for (const severity of SEVERITIES) total += counts[severity];
    return total;
  }

  /** Lists the kept findings claim by claim, sorted by place in the stream. */
  list(): StreamFinding[] {
    return [...this.#kept.values()].flatMap((findings) => findings.toSorted((a, b) => positionOf(a) - positionOf(b)));
  }
}

function claimOf(code: StreamFindingCode): string {
  return code.slice(0, code.indexOf('/'));
}

function positionOf(finding: StreamFinding): number {
  return finding.sequence ?? finding.from ?? 0;
}

function follows(last: StreamFinding, sequence: number): boolean {
  return (last.to ?? last.sequence) === sequence - 1;
}

function extend(range: StreamFinding, sequence: number): void {
  if (range.sequence !== undefined) {
    range.from = range.sequence;
    delete range.sequence;
    delete range.entry_id;
    delete range.recorded_at;
    delete range.actor;
    delete range.action;
    delete range.expected;
    delete range.actual;
    range.message = `in each of these entries; of the first: ${range.message}`;
  }
  range.to = sequence;
}
