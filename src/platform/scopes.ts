import { MODULES } from './modules.ts';

type Names<T> = T extends unknown ? keyof T : never;

/** Scope of a request; a service declares its own. Every route requires a scope, or is public. */
export type Scope = Names<(typeof MODULES)[number]['scopes']> | 'metrics:read';

/** Scopes with explanations for people. */
export const SCOPE_HINTS = Object.assign({}, ...MODULES.map(({ scopes }) => scopes), {
  'metrics:read': 'to read the metrics, for Prometheus',
}) as Readonly<Record<Scope, string>>;

export const SCOPES = Object.keys(SCOPE_HINTS) as readonly Scope[];

const KNOWN: ReadonlySet<string> = new Set(SCOPES);

export function isScope(text: string): text is Scope {
  return KNOWN.has(text);
}
