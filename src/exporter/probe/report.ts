import type { EntryRange } from './places.ts';

/** One thing that was found out, with its proof. */
export interface Discovery {
  what: string;
  found: string;
  how: string;
}

/** One thing that was not, with what that costs and what to do about it. */
export interface Undiscovered {
  what: string;
  why: string;
  costs: string;
  /** Nothing can be exported without it. */
  isNeeded: boolean;
}

/** What was found does not hold for these entries. */
export interface Counterexample {
  what: string;
  says: string;
  entries: number;
  /** Where they stand, at most `MAX_PLACES`. */
  places: EntryRange[];
  /** Whether that alone refutes a claim; else it may have an honest cause. */
  isRefuted: boolean;
}

const MAX_PLACES = 20;

/** What a probe says of its reasoning, in the order in which it reasoned. */
export class Reasoning {
  readonly findings: Discovery[] = [];
  readonly missing: Undiscovered[] = [];
  readonly exceptions: Counterexample[] = [];

  found(what: string, found: string, how: string): void {
    this.findings.push({ what, found, how });
  }

  lacks(what: string, why: string, costs: string): void {
    this.missing.push({ what, why, costs, isNeeded: false });
  }

  needs(what: string, why: string, costs: string): void {
    this.missing.push({ what, why, costs, isNeeded: true });
  }

  /** An error that an export will repeat. */
  refutes(what: string, says: string, entries: number, places: EntryRange[] = []): void {
    this.#except(what, says, entries, places, true);
  }

  /** What a person has to look at. */
  doubts(what: string, says: string, entries: number, places: EntryRange[] = []): void {
    this.#except(what, says, entries, places, false);
  }

  #except(what: string, says: string, entries: number, places: EntryRange[], isRefuted: boolean): void {
    if (entries > 0) this.exceptions.push({ what, says, entries, places: places.slice(0, MAX_PLACES), isRefuted });
  }
}
