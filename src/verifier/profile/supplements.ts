import { z } from 'zod';
import { listSchema, parameter, urlPath } from './list-description.ts';
import { path } from './path-schema.ts';

/**
 * The evidence of the services beside the audit service, and the parts of it that name an entry of the audit service:
 * the section `supplements` of a contract file. Paths of fields are within one record, or within one entry as the audit
 * service sends it.
 */

const field = path.min(1);

/** Members of a record, each with the member of an entry, or of an item in it, that states it. */
const members = z.record(field, field);

/** Entries after the first one that state members of a record anew. */
const laterEntrySchema = z.strictObject({
  is: z.record(field, z.string()),
  within: field.nullable(),
  /** The id of the record that it is of. */
  id: field,
  may_say: members,
  /** Members of the record that entries must have stated so for one like this to follow. */
  was: z.record(field, z.string()).default({}),
});
export type LaterEntryDescription = z.infer<typeof laterEntrySchema>;

/** By which a record is compared with its entry. */
export const namedEntrySchema = z.strictObject({
  /** The stream that the entry has to be in, with {fields} of the record; null where it may be in any. */
  stream: z.string().min(1).nullable(),
  /** Fields of the record that say which entry it is. */
  stream_id: field,
  sequence: field,
  /** Null where records do not name the digest of their entry. */
  digest: field.nullable(),
  /** Values that fields of the entry must have, word for word: its kind. */
  is: z.record(field, z.string()),
  /** The list in the entry of which one item says what the record says; null where the entry itself does. */
  within: field.nullable(),
  /** Members that must be equal; absent and null are equal. */
  says: members,
  /** Others, which are compared where the entry has them; what neither it nor a later entry has is as the service says. */
  may_say: members.default({}),
  /** The most that the time of the record may be from that of its entry; null where the clocks tell nothing of each other. */
  time_within_seconds: z.int().min(0).max(86_400).nullable().default(null),
  later: z.array(laterEntrySchema).max(50).default([]),
  /** Members that only rise, with their values from the lowest on. */
  rises: z.record(field, z.array(z.string()).min(2).max(50)).default({}),
});
export type EntryDescription = z.infer<typeof namedEntrySchema>;

const fields = {
  id: field,
  /**
   * When the service noted it, RFC 3339: what is of another period is left out. Null for what is of the moment when it
   * was asked for.
   */
  time: field.nullable(),
  /** Null where records name no entry. */
  entry: namedEntrySchema.nullable(),
  /** Fields that are columns. */
  csv: z.array(field).min(1).max(50),
};

/** Else one entry could prove any number of records. */
function namesItself({ id, entry }: { id: string; entry: EntryDescription | null }): boolean {
  return entry === null || Object.hasOwn(entry.says, id);
}
const NAMES_ITSELF = { message: 'must have the id among what its entry says', path: ['entry', 'says'] };

export const recordsSchema = listSchema
  .extend({
    /** Query parameters that leave out only what is of another period; null where there are none. */
    from_parameter: parameter.nullable(),
    to_parameter: parameter.nullable(),
    ...fields,
  })
  .refine(namesItself, NAMES_ITSELF);

const ofAgentPath = urlPath.includes('{agent_id}');
const ofAgentSchema = z.strictObject({ path: ofAgentPath, ...fields }).refine(namesItself, NAMES_ITSELF);

const statistics = urlPath.nullable();

export const supplementsSchema = z.strictObject({
  audit: z.strictObject({ statistics }),
  traps: z.strictObject({ statistics, detections: recordsSchema }).nullable(),
  endpoints: z.strictObject({ statistics, events: recordsSchema, scans: recordsSchema.nullable() }).nullable(),
  agents: z
    .strictObject({
      statistics,
      /** The list of agents, which says whose stream is whose. */
      agents: listSchema.extend({ id: field, stream_id: field }),
      /** Records that anybody may ask for, sent without the API key. */
      verifications: ofAgentSchema,
      /** Records of one agent. */
      actions: recordsSchema,
    })
    .refine(({ actions }) => actions.path.includes('{agent_id}'), {
      message: 'must have {agent_id} in it',
      path: ['actions', 'path'],
    })
    .nullable(),
});
export type SupplementsDescription = z.infer<typeof supplementsSchema>;

/** The description of records of one kind; `items` for those that come in a list. */
export type RecordsDescription = Pick<z.infer<typeof recordsSchema>, 'id' | 'time' | 'entry' | 'csv'> & {
  items?: string;
};
