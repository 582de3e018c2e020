import type { Migrations } from '../database/migration.ts';

export const JOB_MIGRATIONS: Migrations = {
  'jobs/0001-outbox': ({ text, integer, ordinal, end }) => [
    `CREATE TABLE outbox (
      message_no ${ordinal},
      message_id ${text} NOT NULL UNIQUE,
      kind ${text} NOT NULL,
      payload ${text} NOT NULL,
      created_at ${text} NOT NULL,
      status ${text} NOT NULL CHECK (status IN ('waiting', 'delivered', 'dead')),
      attempts ${integer} NOT NULL,
      due_at ${text} NOT NULL,
      ended_at ${text},
      last_error ${text}
    ) ${end}`,
    "CREATE INDEX outbox_due ON outbox (due_at) WHERE status = 'waiting'",
    `CREATE TABLE jobs (
      name ${text} PRIMARY KEY,
      due_at ${text} NOT NULL,
      began_at ${text},
      ended_at ${text},
      succeeded_at ${text},
      last_error ${text}
    ) ${end}`,
  ],
};
