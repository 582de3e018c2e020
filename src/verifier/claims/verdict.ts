import type { z } from 'zod';
import { visibleJson } from '../../core/foreign-text.ts';
import type { PackageReading } from '../chain/package.ts';
import type { Examination } from './claim.ts';
import { seenIn } from './span.ts';
import type { verdictSchema } from './verdict-schema.ts';

export type Verdict = z.infer<typeof verdictSchema>;

/** Returns an examined package and its result as written into records; texts from entries are made visible. */
export function toVerdict({ walk, facts }: PackageReading, examination: Examination): Verdict {
  return visibleJson<Verdict>({
    stream_id: walk.streamId,
    status: examination.status,
    package_id: facts?.packageId ?? null,
    entries: walk.entries,
    first_sequence: walk.first?.sequence ?? null,
    head: walk.head === null ? null : { sequence: walk.head.sequence, hash: walk.head.digest },
    ...seenIn(walk),
    first_occurred_at: walk.occurred.first,
    last_occurred_at: walk.occurred.last,
    claims: examination.claims,
    findings: examination.findings,
    findings_count: examination.findingsCount,
    activity: walk.activity,
    actions: examination.actions,
  });
}
