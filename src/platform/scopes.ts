/**
 * The scope of a request: `SERVICE:read`, `SERVICE:write`, or one that is narrower: `audit:export` generates packages
 * and adds nothing to a stream, `traps:report` brings what others saw of traps, and reads nothing, `endpoints:report`
 * is for the agent on one endpoint, `agents:act` is for an AI agent that reports what it does. Every route needs one of
 * them, or is public.
 */
export const SCOPES = [
  'audit:read',
  'audit:write',
  'audit:export',
  'traps:read',
  'traps:write',
  'traps:report',
  'endpoints:read',
  'endpoints:write',
  'endpoints:report',
  'agents:read',
  'agents:write',
  'agents:act',
  'alerts:read',
  'alerts:write',
  'keys:read',
  'keys:write',
  'people:read',
  'people:write',
  'administration:read',
  'administration:write',
  'metrics:read',
] as const;
export type Scope = (typeof SCOPES)[number];

const KNOWN: ReadonlySet<string> = new Set(SCOPES);

export function isScope(text: string): text is Scope {
  return KNOWN.has(text);
}
