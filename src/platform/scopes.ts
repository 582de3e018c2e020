/**
 * What a request may do: `SERVICE:read`, `SERVICE:write`, or `audit:export`, which generates packages and adds nothing to a
 * stream. Every route needs one of them, or is public.
 */
export const SCOPES = [
  'audit:read',
  'audit:write',
  'audit:export',
  'keys:read',
  'keys:write',
  'people:read',
  'people:write',
  'administration:read',
  'administration:write',
  'metrics:read',
] as const;
export type Scope = (typeof SCOPES)[number];
