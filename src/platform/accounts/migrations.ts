import type { Migrations } from '../database/migration.ts';

export const ACCOUNT_MIGRATIONS: Migrations = {
  'accounts/0001-keys': ({ text, end }) => [
    `CREATE TABLE api_keys (
      key_id ${text} PRIMARY KEY,
      sha256 ${text} NOT NULL,
      name ${text} NOT NULL,
      scopes ${text} NOT NULL,
      created_at ${text} NOT NULL,
      expires_at ${text},
      revoked_at ${text},
      last_used_at ${text},
      rotated_from ${text} UNIQUE REFERENCES api_keys
    ) ${end}`,
  ],
  'accounts/0006-bound-keys': ({ text }) => [`ALTER TABLE api_keys ADD COLUMN bound_to ${text}`],
};
