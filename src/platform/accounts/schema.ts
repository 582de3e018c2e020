/** The tables of accounts; `migrations.ts` creates them. Times are RFC 3339 UTC with milliseconds. */
export interface AccountTables {
  api_keys: ApiKeyTable;
}

export interface ApiKeyTable {
  key_id: string;
  /** Of the whole text, which is kept nowhere. */
  sha256: string;
  name: string;
  /** With a space between them. */
  scopes: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  /** To the minute. */
  last_used_at: string | null;
  /** The key in whose place this one is. */
  rotated_from: string | null;
  /** What alone it may speak for, as its service names it: `endpoint:ID`; null for a key that speaks for itself. */
  bound_to: string | null;
}
