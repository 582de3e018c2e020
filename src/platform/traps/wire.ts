import { z } from 'zod';
import { SEVERITIES } from '../alert-enums.ts';
import { alertStandingSchema } from '../alerts/api.ts';
import { entryPlaceSchema } from '../audit/api.ts';
import { instant, jsonObject, pageQuerySchema, recordedIn, text } from '../http/fields.ts';
import {
  ACCESS_KEY_ID,
  CHANNELS,
  CREDENTIAL_TYPES,
  DEPTHS,
  DETECTION_STATUSES,
  ORIGINS,
  PLANT_LOCATIONS,
  SECRET_ACCESS_KEY,
  TRAP_STATUSES,
  TRAP_TYPES,
} from './enums.ts';

const time = z.string();
const json = z.json();

const planting = {
  plant_location: z.enum(PLANT_LOCATIONS),
  label: text.min(1).max(200),
  expires_at: instant.nullable().default(null),
};

/**
 * Body of a request for a trap. `decoy` is the name of a configured decoy, by default the first of the kind. `options`
 * are those of the type.
 */
export const newTrapSchema = z.strictObject({
  credential_type: z.enum(CREDENTIAL_TYPES),
  ...planting,
  decoy: text.min(1).max(100).optional(),
  options: jsonObject.default({}),
});
export type NewTrap = z.output<typeof newTrapSchema>;

export const trapParamsSchema = z.object({ credential_id: text });
export const detectionParamsSchema = z.object({ detection_id: text });

const channelSchema = z.object({
  channel: z.enum(CHANNELS),
  /** True if the channel would detect a use now. */
  active: z.boolean(),
  /** Reason in one sentence. */
  reason: z.string(),
  last_proved_at: time.nullable(),
});

export const trapSchema = z.object({
  credential_id: z.string(),
  credential_type: z.enum(TRAP_TYPES),
  plant_location: z.enum(PLANT_LOCATIONS),
  label: z.string(),
  origin: z.enum(ORIGINS),
  status: z.enum(TRAP_STATUSES),
  /** Part of the credential that is not secret. */
  known_as: z.string(),
  decoy: z.string().nullable(),
  detection_channels: z.array(channelSchema),
  detection_count: z.int(),
  last_detected_at: time.nullable(),
  created_at: time,
  planted_at: time.nullable(),
  confirmed_at: time.nullable(),
  rotated_at: time.nullable(),
  rotated_from: z.string().nullable(),
  expires_at: time.nullable(),
});
export type WireTrap = z.infer<typeof trapSchema>;

const artifactSchema = z.object({ filename: z.string(), content: z.string(), instructions: z.string() });

/** Trap with credential and artifact, which are returned only once. */
export const madeTrapSchema = trapSchema.extend({ credential: z.record(z.string(), json), artifact: artifactSchema });
export type WireMadeTrap = z.infer<typeof madeTrapSchema>;

export const confirmationSchema = z.preprocess(
  (given) => given ?? {},
  z.strictObject({
    /** Time at which the trap was planted; now, by default. */
    planted_at: instant.optional(),
  }),
);

const testResultSchema = z.object({
  channel: z.enum(CHANNELS),
  proved: z.boolean(),
  /** Result of the marked use, in one sentence. */
  outcome: z.string(),
});
export type ChannelTest = z.infer<typeof testResultSchema>;
export const testResultsSchema = z.object({ data: z.array(testResultSchema) });

const REALISM_CHECKS = [
  'plain_label',
  'plain_host',
  'own_host',
  'certificate',
  'unlisted_account',
  'unspent_decoy',
  'planted',
  'proved',
] as const;

const realismCheckSchema = z.object({
  check: z.enum(REALISM_CHECKS),
  result: z.enum(['passed', 'failed', 'unknown']),
  /** Observation in one sentence. */
  reason: z.string(),
  /** Next step; null if there is none. */
  next_step: z.string().nullable(),
});
export type RealismCheck = z.infer<typeof realismCheckSchema>;

/** Checks that apply to the trap; checks that do not apply to its type are left out. */
export const realismSchema = z.object({ data: z.array(realismCheckSchema) });

export const trapQuerySchema = pageQuerySchema.extend({
  credential_type: z.enum(TRAP_TYPES).optional(),
  plant_location: z.enum(PLANT_LOCATIONS).optional(),
});
export type TrapQuery = z.infer<typeof trapQuerySchema>;

export const detectionSchema = z.object({
  detection_id: z.string(),
  credential_id: z.string(),
  credential_type: z.enum(TRAP_TYPES),
  plant_location: z.enum(PLANT_LOCATIONS),
  label: z.string(),
  depth: z.enum(DEPTHS),
  severity: z.enum(SEVERITIES),
  detected_at: time,
  event_time: time,
  channel: z.enum(CHANNELS),
  source_event_id: z.string().nullable(),
  source_ip: z.string().nullable(),
  user_agent: z.string().nullable(),
  action: z.string().nullable(),
  service: z.string().nullable(),
  region: z.string().nullable(),
  auth_verified: z.boolean().nullable(),
  request_sha256: z.string(),
  /** Times between which the credential leaked. */
  leaked_between: z.tuple([time, time]),
  status: z.enum(DETECTION_STATUSES),
  acknowledged_by: z.string().nullable(),
  acknowledged_at: time.nullable(),
  occurrences: z.int(),
  first_seen: time,
  last_seen: time,
  alert: alertStandingSchema,
  /** Entry that was committed with the detection. */
  entry: entryPlaceSchema,
});
export type WireDetection = z.infer<typeof detectionSchema>;

export const occurrenceSchema = z.object({
  number: z.int(),
  event_time: time,
  depth: z.enum(DEPTHS),
  action: z.string().nullable(),
  source_event_id: z.string().nullable(),
  request_sha256: z.string(),
});

/** Detection with its first and last occurrences. */
export const wholeDetectionSchema = detectionSchema.extend({ occurrences_kept: z.array(occurrenceSchema) });

export const detectionQuerySchema = pageQuerySchema.extend({
  credential_id: text.optional(),
  credential_type: z.enum(TRAP_TYPES).optional(),
  channel: z.enum(CHANNELS).optional(),
  status: z.enum(DETECTION_STATUSES).optional(),
  severity: z.enum(SEVERITIES).optional(),
  ...recordedIn,
});
export type DetectionQuery = z.infer<typeof detectionQuerySchema>;

const count = z.int();

export const trapStatsSchema = z.object({
  traps: count,
  /** Traps that have not ended and are known to be planted. */
  planted: count,
  /** Traps with a channel that was not proved in the last thirty days. */
  unproved: count,
  /** Traps whose decoy does not listen. */
  without_decoy: count,
  /** Oldest of the last proofs of the channels. */
  proved_since: time.nullable(),
  detections: count,
  detections_24h: count,
  open_detections: z.object({ low: count, medium: count, high: count, critical: count }),
  open_since: time.nullable(),
  last_detection_at: time.nullable(),
});
export type TrapStats = z.infer<typeof trapStatsSchema>;

export const newStatusSchema = z.strictObject({ status: z.enum(DETECTION_STATUSES) });

const realKey = {
  ...planting,
  region: z.string().min(1).max(50).default('us-east-1'),
  /** Name of an aws decoy that the planted file leads to instead of AWS. */
  decoy: text.min(1).max(100).optional(),
};
/** https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateUser.html */
const userName = z.string().regex(/^[\w+=,.@-]{1,64}$/, 'is not a valid IAM user name');

export const importedKeySchema = z.strictObject({
  ...realKey,
  access_key_id: z.string().regex(ACCESS_KEY_ID, 'is not an access key ID, which begins with AKIA'),
  /** Secret, needed for the planted file and for checking signatures at a decoy; AWS channels do not need it. */
  secret_access_key: z.string().regex(SECRET_ACCESS_KEY, 'must have 40 characters').nullable().default(null),
  user_name: userName.nullable().default(null),
});
export type ImportedKey = z.output<typeof importedKeySchema>;

export const provisionedKeySchema = z.strictObject({
  ...realKey,
  /** Name of the IAM user; by default, a random name like that of a program. */
  user_name: userName.optional(),
});
export type ProvisionedKey = z.output<typeof provisionedKeySchema>;

export type RealKeyInput = Pick<ImportedKey, 'plant_location' | 'label' | 'expires_at' | 'decoy'>;

/** Result of a delivery of events. */
export const trailTallySchema = z.object({
  /** Delivered events. */
  events: z.int(),
  /** Events that are uses of traps. */
  matched: z.int(),
  /** Events that were recorded before. */
  known: z.int(),
});
export type TrailTally = z.infer<typeof trailTallySchema>;
