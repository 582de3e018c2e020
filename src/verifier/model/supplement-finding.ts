import { visibleJson } from '../../core/foreign-text.ts';
import type { Finding, Severity } from './finding.ts';

/** Severity of each code. A finding's message says only what happened. */
const SEVERITIES = {
  'supplement/contradicted': 'error',
  'supplement/missing': 'error',
  'supplement/no-entry': 'error',
  'supplement/outside-bundle': 'warning',
} satisfies Record<string, Severity>;

/** Codes of findings about the records of other services. */
export type SupplementFindingCode = keyof typeof SEVERITIES;

export const SUPPLEMENT_FINDING_CODES = Object.keys(SEVERITIES) as SupplementFindingCode[];

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
  finding: Omit<SupplementFinding<Kind>, 'severity'>,
): SupplementFinding<Kind> {
  return visibleJson({ ...finding, severity: SEVERITIES[finding.code] });
}
