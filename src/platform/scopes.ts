import { MODULES } from './modules.ts';

/** The scope of a request; a service declares its own. Every route needs one of them, or is public. */
export type Scope = (typeof MODULES)[number]['scopes'][number] | 'metrics:read';

export const SCOPES: readonly Scope[] = [...MODULES.flatMap<Scope>(({ scopes }) => scopes), 'metrics:read'];

const KNOWN: ReadonlySet<string> = new Set(SCOPES);

export function isScope(text: string): text is Scope {
  return KNOWN.has(text);
}
