import { z } from 'zod';
import { AGENT_STATES, CEILINGS, TIER_NAMES, TRUST_RULES } from '../enums.ts';
import { actionContentSchema } from './actions.ts';

const score = z.int();
const tier = z.enum(TIER_NAMES);
const rule = z.enum(TRUST_RULES);

export const trustScoreSchema = z.object({
  agent_id: z.string(),
  score,
  tier,
  /** Meaning of the tier. */
  meaning: z.string(),
  state: z.enum(AGENT_STATES),
  ceiling: score,
  ceiling_because: z.enum(CEILINGS),
  /** Time at which the ceiling rises by itself. */
  ceiling_until: z.string().nullable(),
  why: z.string(),
  /** Addends of the score. */
  factors: z.array(z.object({ rule, lines: z.int(), points: z.int() })),
  next_steps: z.array(z.string()),
});
export type TrustScore = z.infer<typeof trustScoreSchema>;

export const trustLineSchema = z.object({
  entry_no: z.int(),
  at: z.string(),
  rule,
  points: z.int(),
  before: score,
  after: score,
  ceiling: score,
  ceiling_because: z.enum(CEILINGS),
  action_id: z.string().nullable(),
  detail: z.record(z.string(), z.json()),
  reason: z.string(),
});
export type WireTrustLine = z.infer<typeof trustLineSchema>;
/**
 * Line of an agent's ledger: `after` is `before + points`, limited to 0 and the ceiling; `points` are those of the
 * rule.
 */
export type TrustLine = Omit<WireTrustLine, 'reason'>;

/** Rules that can be simulated; the others belong to registration and to changes of a parent. */
export const SIMULATED_RULES = TRUST_RULES.filter((each) => each !== 'registered' && each !== 'held_by_parent');

export const simulationSchema = z
  .strictObject({
    rules: z.array(z.enum(SIMULATED_RULES)).min(1).max(200).optional(),
    action: actionContentSchema
      .partial()
      .extend({ attested: z.boolean().default(false) })
      .optional(),
  })
  .refine(({ rules, action }) => (rules === undefined) !== (action === undefined), 'requires either rules or action');
export type Simulation = z.output<typeof simulationSchema>;

export const simulatedSchema = z.object({
  before: score,
  after: score,
  tier,
  state: z.enum(AGENT_STATES),
  lines: z.array(trustLineSchema.pick({ rule: true, points: true, before: true, after: true, reason: true })),
  reasons: z.array(z.string()),
});
export type Simulated = z.infer<typeof simulatedSchema>;
