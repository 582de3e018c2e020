import type { Migrations } from '../database/migration.ts';

export const IDEMPOTENCY_MIGRATIONS: Migrations = {
  'idempotency/0001-claims': ({ text, end }) => [
    `CREATE TABLE claims (
      claim ${text} PRIMARY KEY,
      body_sha256 ${text} NOT NULL,
      result ${text} NOT NULL,
      until ${text}
    ) ${end}`,
    'CREATE INDEX claims_by_end ON claims (until) WHERE until IS NOT NULL',
  ],
};
