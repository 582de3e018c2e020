/** What a request may do: `SERVICE:read` or `SERVICE:write`. Every route needs one of them, or is public. */
export const SCOPES = [
  'audit:read',
  'audit:write',
  'keys:read',
  'keys:write',
  'people:read',
  'people:write',
  'administration:read',
  'administration:write',
  'metrics:read',
] as const;
export type Scope = (typeof SCOPES)[number];
