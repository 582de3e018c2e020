import type { Migrations } from '../database/migration.ts';

export const IDEMPOTENCY_MIGRATIONS: Migrations = {
  'idempotency/0001-results': ({ text, end }) => [
    `CREATE TABLE keyed_results (
      request ${text} PRIMARY KEY,
      body_sha256 ${text},
      result ${text} NOT NULL,
      until ${text}
    ) ${end}`,
    'CREATE INDEX keyed_results_by_end ON keyed_results (until) WHERE until IS NOT NULL',
  ],
};
