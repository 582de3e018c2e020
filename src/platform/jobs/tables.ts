import { integer, oneOf, optional, ordinal, type TablesOf, table, text } from '../database/table.ts';

export const JOB_TABLES = {
  outbox: table(
    {
      message_no: ordinal(),
      message_id: text('UNIQUE'),
      kind: text(),
      /** JSON, for who delivers this kind. */
      payload: text(),
      created_at: text(),
      status: oneOf(['waiting', 'delivered', 'dead']),
      attempts: integer(),
      /** When it is delivered next; while it is under way, when whoever does it must be gone. */
      due_at: text(),
      ended_at: optional(text()),
      last_error: optional(text()),
    },
    { indexes: { outbox_due: "(due_at) WHERE status = 'waiting'" } },
  ),
  jobs: table({
    name: text('PRIMARY KEY'),
    /** When it runs next; while it runs, when whoever does it must be gone. */
    due_at: text(),
    began_at: optional(text()),
    ended_at: optional(text()),
    succeeded_at: optional(text()),
    last_error: optional(text()),
  }),
};

export type JobTables = TablesOf<typeof JOB_TABLES>;
