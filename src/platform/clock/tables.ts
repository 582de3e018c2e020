import { column, type TablesOf, table } from '../database/table.ts';

export const CLOCK_TABLES = {
  /** Latest time that the platform relies on, in one row. */
  clock: table({
    id: column.integer('PRIMARY KEY CHECK (id = 1)'),
    seen_at: column.text(),
    /** Process that wrote the row. */
    seen_by: column.text(),
  }),
};

export type ClockTables = TablesOf<typeof CLOCK_TABLES>;
