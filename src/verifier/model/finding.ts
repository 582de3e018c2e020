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
  advice?: Advice;
}

/** Facts beside its code that decide what to do about a finding. */
export const ADVICE_CODES = [
  /** The bundle was altered after it was received: the service is not asked about what others did. */
  'get_unaltered',
  /** Entries that no export has, of months apart from the exported ones, or of these. */
  'export_all_time',
  'export_missing',
  /** The run `run_id` has the entries that a package leaves out. */
  'compare_with_run',
  /** Two runs have different entries of one number. */
  'compare_runs',
  /** The bundle of the run `run_id`, which has the entry before, was not read here; or the two were not proved to join. */
  'verify_run',
  'see_run',
  /** A restart or an end of the stream was accepted since. */
  'judge_acceptance',
] as const;

export interface Advice {
  code: (typeof ADVICE_CODES)[number];
  run_id?: string | undefined;
  accepted_at?: string | undefined;
  accepted_by?: string | undefined;
}
