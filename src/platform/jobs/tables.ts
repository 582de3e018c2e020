import { column, type TablesOf, table } from '../database/table.ts';

export const JOB_TABLES = {
  outbox: table(
    {
      message_no: column.ordinal(),
      message_id: column.text('UNIQUE'),
      kind: column.text(),
      /** JSON for the delivery of this kind. */
      payload: column.text(),
      created_at: column.text(),
      status: column.oneOf(['waiting', 'delivered', 'dead']),
      attempts: column.integer(),
      /** Time of the next delivery; during a delivery, the end of its lease. */
      due_at: column.text(),
      ended_at: column.optional(column.text()),
      last_error: column.optional(column.text()),
    },
    { indexes: { outbox_due: "(due_at) WHERE status = 'waiting'" } },
  ),
  jobs: table({
    name: column.text('PRIMARY KEY'),
    /** Time of the next run; during a run, the end of its time limit. */
    due_at: column.text(),
    began_at: column.optional(column.text()),
    ended_at: column.optional(column.text()),
    succeeded_at: column.optional(column.text()),
    last_error: column.optional(column.text()),
  }),
};

export type JobTables = TablesOf<typeof JOB_TABLES>;
