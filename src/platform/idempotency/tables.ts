import { column, type TablesOf, table } from '../database/table.ts';

export const IDEMPOTENCY_TABLES = {
  keyed_results: table(
    {
      /** Id of the request. */
      request: column.text('PRIMARY KEY'),
      body_sha256: column.digest(),
      result: column.text(),
      /** Expiry of the result. */
      until: column.text(),
    },
    { indexes: { keyed_results_by_end: '(until)' } },
  ),
};

export type IdempotencyTables = TablesOf<typeof IDEMPOTENCY_TABLES>;
