/** An `error` refutes its claim or its object; a `warning` asks for a look; a `notice` explains. */
export type Severity = 'error' | 'warning' | 'notice';

/**
 * Finding before its severity and next step are known.
 *
 * `expected` is always what the evidence or a record states, and `actual` what was computed or found. Of two
 * statements, `expected` is the one that refers to the other: a token to an entry, an entry to the one before it, a
 * form to the entries, a contract to all of them, an earlier run to a later one.
 */
export interface BareFinding<Code extends string = string> {
  /** Name of the claim or of the thing that was read, a slash, and the kind of finding. */
  code: Code;
  message: string;
  expected?: string;
  actual?: string;
}

export interface Finding<Code extends string = string> extends BareFinding<Code> {
  severity: Severity;
  next_step: string;
}
