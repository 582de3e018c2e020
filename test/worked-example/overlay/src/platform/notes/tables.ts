import { column, type TablesOf, table } from '../database/table.ts';

export const NOTE_TABLES = {
  /** Notes that people leave for each other. */
  notes: table({
    note_no: column.ordinal(),
    note_id: column.text('UNIQUE'),
    text: column.text(),
    written_by: column.text(),
    written_at: column.text(),
  }),
};

export type NoteTables = TablesOf<typeof NOTE_TABLES>;
