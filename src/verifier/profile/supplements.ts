import { z } from 'zod';
import { listSchema, parameter, urlPath } from './list-description.ts';
import { path } from './path-schema.ts';

/**
 * Evidence of services other than the audit service, and the parts of it that name an entry of the audit service:
 * section `supplements` of a contract file. Field paths are in one record, or in one entry as the audit service sends
 * it.
 */

const field = path.min(1);

/** Members of a record, each with the member of an entry, or of an item in it, that states it. */
const members = z.record(field, field);

/** Later entries that state members of a record again. */
const laterEntrySchema = z.strictObject({
  is: z.record(field, z.string()),
  within: field.nullable(),
  /** Id of the record that the entry is about. */
  id: field,
  may_say: members,
  /** Members of the record, with the values that earlier entries must have stated for such an entry to follow. */
  was: z.record(field, z.string()).default({}),
});
export type LaterEntryDescription = z.infer<typeof laterEntrySchema>;

/** Description of a record's entry, by which the two are compared. */
export const namedEntrySchema = z.strictObject({
  /** Stream of the entry, with {fields} of the record; null if it may be in any. */
  stream: z.string().min(1).nullable(),
  /** Fields of the record that identify its entry. */
  stream_id: field,
  sequence: field,
  /** Null if records do not state the digest of their entry. */
  digest: field.nullable(),
  /** Fields of the entry and the exact values that they must have: its kind. */
  is: z.record(field, z.string()),
  /** List in the entry with an item that states the record; null if the entry itself does. */
  within: field.nullable(),
  /** Members that must be equal; absent equals null. */
  says: members,
  /** Members that are compared if an entry has them; values that no entry has are only the service's word. */
  may_say: members.default({}),
  /** Maximum difference between the times of a record and of its entry; null if their clocks are unrelated. */
  time_within_seconds: z.int().min(0).max(86_400).nullable().default(null),
  later: z.array(laterEntrySchema).max(50).default([]),
  /** Members whose values only rise, with the values from the lowest up. */
  rises: z.record(field, z.array(z.string()).min(2).max(50)).default({}),
});
export type EntryDescription = z.infer<typeof namedEntrySchema>;

const fields = {
  id: field,
  /**
   * Time at which the service noted the record, RFC 3339: records of other periods are left out. Null for records about
   * the moment of the request.
   */
  time: field.nullable(),
  /** Null if records name no entry. */
  entry: namedEntrySchema.nullable(),
  /** Fields that become columns. */
  csv: z.array(field).min(1).max(50),
};

/** Reports whether the entry states the record's id; otherwise one entry could prove any number of records. */
function namesItself({ id, entry }: { id: string; entry: EntryDescription | null }): boolean {
  return entry === null || Object.hasOwn(entry.says, id);
}
const NAMES_ITSELF = { message: 'must have the id among what its entry says', path: ['entry', 'says'] };

export const recordsSchema = listSchema
  .extend({
    /** Query parameters that leave out only records of other periods; null if there are none. */
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
      /** List of agents, which assigns streams to agents. */
      agents: listSchema.extend({ id: field, stream_id: field }),
      /** Public records, requested without the API key. */
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

/** Description of records of one kind; `items` for records in a list. */
export type RecordsDescription = Pick<z.infer<typeof recordsSchema>, 'id' | 'time' | 'entry' | 'csv'> & {
  items?: string;
};
