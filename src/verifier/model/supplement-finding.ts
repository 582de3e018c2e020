import { visibleJson } from '../../core/foreign-text.ts';
import type { Finding, Severity } from './finding.ts';

const ASK_SERVICE =
  'Keep the bag and the bundle of the stream, and ask the operator of the service which of the two is true.';

/** Severity and next step of each code. A finding's message says only what happened. */
const CODES = {
  'supplement/contradicted': { severity: 'error', nextStep: ASK_SERVICE },
  'supplement/missing': {
    severity: 'error',
    nextStep: 'Keep the bag and the bundle of the stream, and ask the operator of the service where this record is.',
  },
  'supplement/no-entry': {
    severity: 'error',
    nextStep: 'Ask the operator of the service why nothing was recorded when this happened.',
  },
  'supplement/outside-bundle': {
    severity: 'warning',
    nextStep:
      'Look for the entry in the bundle of the period before or after. If it is in none, ask the operator of the service for it by its number.',
  },
} satisfies Record<string, { severity: Severity; nextStep: string }>;

/** Codes of findings about the records of other services. */
export type SupplementFindingCode = keyof typeof CODES;

export const SUPPLEMENT_FINDING_CODES = Object.keys(CODES) as SupplementFindingCode[];

/** Finding as written into records: about one record, or about several of one kind. */
export interface SupplementFinding<Kind extends string = string>
  extends Omit<Finding<SupplementFindingCode>, 'expected' | 'actual'> {
  kind: Kind;
  /** Id of the record, or of the first of several. */
  id: string;
  expected?: string | undefined;
  actual?: string | undefined;
  /** Number of records that the finding is about. */
  records: number;
  stream_id?: string | undefined;
  sequence?: number | undefined;
}

export function toSupplementFinding<Kind extends string>(
  finding: Omit<SupplementFinding<Kind>, 'severity' | 'next_step'>,
): SupplementFinding<Kind> {
  const { severity, nextStep } = CODES[finding.code];
  return visibleJson({ ...finding, severity, next_step: nextStep });
}
