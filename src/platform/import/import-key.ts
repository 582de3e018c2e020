import { hash } from 'node:crypto';
import { z } from 'zod';
import { canonicalize } from '../../core/json/canonical.ts';

/** Members of an entry that come from the source. */
export const importedSchema = z.object({
  actor: z.string(),
  action: z.string(),
  resource_type: z.string(),
  resource_id: z.string(),
  metadata: z.record(z.string(), z.json()).optional(),
  occurred_at: z.string().optional(),
});

/** Returns the entry with its id in the metadata, which outlasts the idempotency keys of the service. */
export function withImportKey<Entry extends { idempotency_key: string; metadata?: object }>(entry: Entry) {
  return { ...entry, metadata: { ...entry.metadata, import_key: entry.idempotency_key } };
}

/** Returns a digest of what an entry says. */
export function contentDigest(entry: z.output<typeof importedSchema>): string {
  const { actor, action, resource_type, resource_id, metadata = {}, occurred_at = null } = entry;
  return hash('sha256', canonicalize({ actor, action, resource_type, resource_id, metadata, occurred_at }), 'base64');
}
