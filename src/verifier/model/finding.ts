/** An `error` refutes its claim or its object; a `warning` asks for a look; a `notice` explains. */
export type Severity = 'error' | 'warning' | 'notice';

/**
 * Something that was found wrong, wherever it was found, before it is said how bad it is and what to do.
 *
 * Everywhere, `expected` is what the evidence or a record states, and `actual` what was computed or found. Of two
 * statements, `expected` is that of the one that speaks of the other: a token of an entry, an entry of the one before it,
 * a form of the entries, a contract of all of them, an earlier run of a later one.
 */
export interface BareFinding<Code extends string = string> {
  /** The part before the slash names the claim that it concerns, or the thing that was read. */
  code: Code;
  message: string;
  expected?: string;
  actual?: string;
}

export interface Finding<Code extends string = string> extends BareFinding<Code> {
  severity: Severity;
  next_step: string;
}
