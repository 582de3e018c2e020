import { column, type TablesOf, table } from '../database/table.ts';

export const JOB_TABLES = {
  outbox: table(
    {
      message_no: column.ordinal(),
      message_id: column.text('UNIQUE'),
      kind: column.text(),
      /** JSON, for who delivers this kind. */
      payload: column.text(),
      created_at: column.text(),
      status: column.oneOf(['waiting', 'delivered', 'dead']),
      attempts: column.integer(),
      /** When it is delivered next; while it is under way, when whoever does it must be gone. */
      due_at: column.text(),
      ended_at: column.optional(column.text()),
      last_error: column.optional(column.text()),
    },
    { indexes: { outbox_due: "(due_at) WHERE status = 'waiting'" } },
  ),
  jobs: table({
    name: column.text('PRIMARY KEY'),
    /** When it runs next; while it runs, when whoever does it must be gone. */
    due_at: column.text(),
    began_at: column.optional(column.text()),
    ended_at: column.optional(column.text()),
    succeeded_at: column.optional(column.text()),
    last_error: column.optional(column.text()),
  }),
};

export type JobTables = TablesOf<typeof JOB_TABLES>;
