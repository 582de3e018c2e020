import type { EntryRange } from './roles/places.ts';

/** One thing that was found out, with its proof. */
interface Discovery {
  what: string;
  found: string;
  how: string;
}

/** One thing that was not, with what that costs and what to do about it. */
interface Undiscovered {
  what: string;
  why: string;
  costs: string;
  /** Nothing can be exported without it. */
  isNeeded: boolean;
}

/** Entries that contradict a finding. */
export interface Counterexample {
  what: string;
  says: string;
  entries: number;
  /** Their places, at most `MAX_PLACES`. */
  places: EntryRange[];
  /** True if that alone refutes a claim; else it may have an honest cause. */
  isRefuted: boolean;
}

const MAX_PLACES = 20;

/** The steps of a probe's reasoning, in their order. */
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
    this.#except({ what, says, entries, places, isRefuted: true });
  }

  /** Adds a question for a person. */
  doubts(what: string, says: string, entries: number, places: EntryRange[] = []): void {
    this.#except({ what, says, entries, places, isRefuted: false });
  }

  #except(exception: Counterexample): void {
    const places = exception.places.slice(0, MAX_PLACES);
    if (exception.entries > 0) this.exceptions.push({ ...exception, places });
  }
}
