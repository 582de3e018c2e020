import type { WireVerification } from './wire.ts';

type Failure = WireVerification['failures'][number];

/** Failures told one by one; a stream that was rewritten as a whole has one per entry. */
const MAX_FAILURES = 1000;

/** The faults that a check finds. */
export class Faults {
  readonly #failures: Failure[] = [];
  #count = 0;
  /** The lowest sequence number that something is wrong at. */
  first = Number.POSITIVE_INFINITY;

  fail(code: string, sequence: number, expected: string | null, actual: string | null): void {
    this.#count++;
    this.first = Math.min(this.first, sequence);
    if (this.#failures.length < MAX_FAILURES) this.#failures.push({ code, sequence, expected, actual });
  }

  compare(code: string, sequence: number, expected: string | null, actual: string | null): void {
    if (expected !== actual) this.fail(code, sequence, expected, actual);
  }

  /** Compares a seal. Nobody is told what it should be: with the right one a changed row would pass for sound. */
  compareSeal(code: string, sequence: number, expected: string, actual: string): void {
    if (expected !== actual) this.fail(code, sequence, null, actual);
  }

  /** All of them. @param last where those are placed that are only counted. */
  told(last: number): Failure[] {
    const more = this.#count - this.#failures.length;
    if (more === 0) return this.#failures;
    return [...this.#failures, { code: 'more_failures', sequence: last, expected: null, actual: `${more} more` }];
  }
}
