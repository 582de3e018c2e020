import { z } from 'zod';
import { instant, text } from '../../http/fields.ts';
import { CREDENTIAL_TYPES, newTrapSchema } from '../../traps/api.ts';
import { BAIT_STATUSES, READ_SIGNS } from '../enums.ts';

const time = z.string();
const ownerNumber = z.int().min(0).max(4_294_967_294);
const { credential_type, label, decoy, options } = newTrapSchema.shape;

/** Absolute path without dot segments, which the sensor follows folder by folder. */
const filePath = text
  .min(2)
  .max(4000)
  .refine((value) => /^(\/[^/]+)+$/.test(value), 'is not the absolute path of a file')
  .refine((value) => !/\/\.{1,2}(\/|$)/.test(value), 'contains . or ..')
  .refine((value) => !/\p{Cc}/u.test(value), 'contains control characters');

export const newBaitSchema = z.strictObject({
  credential_type,
  path: filePath,
  label,
  mode: z
    .string()
    .regex(/^0?[0-7]{3}$/, 'is not three octal digits')
    .transform((digits) => digits.padStart(4, '0'))
    .default('0600'),
  /** Owner of the file; null for that of the folder. */
  uid: ownerNumber.nullable().default(null),
  gid: ownerNumber.nullable().default(null),
  decoy,
  options,
});
export type NewBait = z.output<typeof newBaitSchema>;

export const baitSchema = z.object({
  bait_id: z.string(),
  endpoint_id: z.string(),
  credential_id: z.string(),
  credential_type: z.enum(CREDENTIAL_TYPES),
  label: z.string(),
  path: z.string(),
  mode: z.string(),
  uid: z.int().nullable(),
  gid: z.int().nullable(),
  status: z.enum(BAIT_STATUSES),
  /** Signs by which the sensor detects a read; empty if it cannot detect reads. */
  seen_by: z.array(z.enum(READ_SIGNS)),
  reason: z.string().nullable(),
  asked_at: time,
  planted_at: time.nullable(),
  ended_at: time.nullable(),
});
export type WireBait = z.infer<typeof baitSchema>;
export const baitListSchema = z.object({ data: z.array(baitSchema) });

export const baitParamsSchema = z.object({ endpoint_id: text, bait_id: text });
export const sensorBaitParamsSchema = z.object({ bait_id: text });

/** Bait as sent to its sensor, with `content` until the sensor has reported it as planted. */
export const sensorBaitSchema = baitSchema
  .pick({ bait_id: true, path: true, mode: true, uid: true, gid: true })
  .extend({
    wanted: z.enum(['planted', 'removed']),
    content: z.string().nullable(),
  });
export type SensorBait = z.infer<typeof sensorBaitSchema>;

const reason = text.min(1).max(500);

export const plantedSchema = z.discriminatedUnion('planted', [
  z.strictObject({ planted: z.literal(true), seen_by: z.array(z.enum(READ_SIGNS)).max(2) }),
  z.strictObject({ planted: z.literal(false), reason }),
]);
export type Planted = z.output<typeof plantedSchema>;

/**
 * Findings of the sensor. `gone`, `replaced`: the planted file is no longer at its path. `changed`: the file is there,
 * but not as the sensor left it. `unknown`: the sensor has no record of it. `removed`, `left`: result of a requested
 * removal.
 */
const BAIT_STANDINGS = ['gone', 'replaced', 'changed', 'unknown', 'removed', 'left'] as const;
export const standingSchema = z.strictObject({ standing: z.enum(BAIT_STANDINGS), reason });
export type BaitStanding = z.output<typeof standingSchema>;

export const readsSchema = z.strictObject({
  reads: z
    .array(
      z.strictObject({
        bait_id: text.max(100),
        read_at: instant,
        seen: z.enum(READ_SIGNS),
        /** Id of the read; a repeated id counts once. */
        event: text.min(1).max(100),
      }),
    )
    .min(1)
    .max(500),
});
export type BaitReads = z.output<typeof readsSchema>;
export const readsTakenSchema = z.object({ taken: z.int() });
export const baitStandsSchema = z.object({ bait_id: z.string(), status: z.enum(BAIT_STATUSES) });
