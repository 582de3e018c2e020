import { z } from 'zod';
import { FINDING_CODES } from '../../chain/finding.ts';
import { CLAIMS } from '../../claims/claim.ts';

const text = z.string().min(1);
const outcome = z.strictObject({ word: text, sentence: text });

/** `templates/report/texts.yaml`: what the reports say, apart from what they take from the record. */
export const textsSchema = z.strictObject({
  title: text,
  outcome: z.strictObject({
    verified: outcome,
    collected: outcome,
    /** `missed`: where nothing is wrong but that streams are missed. */
    refuted: outcome.extend({ missed: text }),
    partial: outcome,
    empty: outcome,
    unsealed: text,
    empties: text,
    vanished: text,
  }),
  ipe: z.strictObject({
    introduction: text,
    not_edited: text,
    signed: text,
    unsigned: text,
    stamped: text,
    encrypted: text,
    heads: text,
    review: text,
  }),
  claims: z.record(z.enum(CLAIMS), text),
  charts: z.strictObject({
    activity: text,
    streams: text,
    actions: text,
    undated: text,
    uncounted: text,
    no_actions: text,
  }),
  coverage: z.strictObject({ introduction: text }),
  findings: z.strictObject({ none: text, introduction: text, more: text }),
  /** By the finding's code. */
  meanings: z.record(z.enum(FINDING_CODES), text),
  custody: z.strictObject({
    introduction: text,
    requested: text,
    started: text,
    collected: text,
    archived: text,
    closed: text,
    reported: text,
    accepted: text,
  }),
  proves: z.strictObject({ introduction: text }),
  verify: z.strictObject({
    introduction: text,
    steps: z.array(z.strictObject({ title: text, text, command: text })),
  }),
  /** Verifying in report.html. */
  browser: z.strictObject({ introduction: text, limits: z.array(text), no_script: text }),
  controls: z.strictObject({ introduction: text, none: text, refuted: text }),
  streams: z.strictObject({ introduction: text }),
  marks: text,
});
export type Texts = z.infer<typeof textsSchema>;
