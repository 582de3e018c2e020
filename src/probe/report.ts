import type { EntryRange } from './roles/places.ts';

/** Finding of the probe, with its proof. */
interface Discovery {
  what: string;
  found: string;
  how: string;
}

/** Part of the contract that was not found, with the consequences. */
interface Undiscovered {
  what: string;
  why: string;
  costs: string;
  /** True if every export needs it. */
  isNeeded: boolean;
}

/** Entries that contradict a finding. */
export interface Counterexample {
  what: string;
  says: string;
  entries: number;
  /** Places of the entries, at most `MAX_PLACES`. */
  places: EntryRange[];
  /** True if the contradiction alone refutes a claim; false if it may have an honest cause. */
  isRefuted: boolean;
}

const MAX_PLACES = 20;

/** Steps of a probe's reasoning, in order. */
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

  /** Adds a contradiction that an export will find too. */
  refutes(what: string, says: string, entries: number, places: EntryRange[] = []): void {
    this.#except({ what, says, entries, places, isRefuted: true });
  }

  /** Adds a question that a person has to answer. */
  doubts(what: string, says: string, entries: number, places: EntryRange[] = []): void {
    this.#except({ what, says, entries, places, isRefuted: false });
  }

  #except(exception: Counterexample): void {
    const places = exception.places.slice(0, MAX_PLACES);
    if (exception.entries > 0) this.exceptions.push({ ...exception, places });
  }
}
