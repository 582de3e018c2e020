import { z } from 'zod';
import type { WireEntry } from '../audit/api.ts';

/** Members of an API key that acts determine. */
export interface ReplayedKey {
  name: string;
  scopes: string[];
  expires_at: string | null;
  bound_to: string | null;
  streams: string[] | null;
  actor: string | null;
  is_revoked: boolean;
}

/** Members of a person that acts determine. */
export interface ReplayedPerson {
  role: string;
  is_disabled: boolean;
}

/** Keys and people that follow from acts, by id, with the number of the entry that changed each last. */
export interface ReplayedAccounts {
  keys: Map<string, ReplayedKey & { entry: number }>;
  people: Map<string, ReplayedPerson & { entry: number }>;
}

const madeSchema = z.object({
  name: z.string(),
  scopes: z.array(z.string()),
  expires_at: z.string().nullable(),
  bound_to: z.string().nullable().default(null),
  streams: z.array(z.string()).nullable().default(null),
  actor: z.string().nullable().default(null),
});
const replacedSchema = z.object({ rotated_from: z.string(), old_expires_at: z.string().nullable() });
const initializedSchema = madeSchema.extend({ key_id: z.string() });
const roleSchema = z.object({ role: z.string() });
const newRoleSchema = z.object({ to: z.string() });

/** Returns the keys and people that follow from the entries of `platform/administration`, in order. */
export async function replayAccounts(
  entries: AsyncIterable<WireEntry> | Iterable<WireEntry>,
): Promise<ReplayedAccounts> {
  const accounts: ReplayedAccounts = { keys: new Map(), people: new Map() };
  for await (const entry of entries) {
    if (entry.resource_type === 'api_key') replayKey(accounts.keys, entry);
    else if (entry.resource_type === 'person') replayPerson(accounts.people, entry);
    else if (entry.action === 'platform.initialised') replayFirstKey(accounts.keys, entry);
  }
  return accounts;
}

function replayFirstKey(keys: ReplayedAccounts['keys'], { metadata, sequence: entry }: WireEntry): void {
  const { key_id, ...made } = initializedSchema.parse(metadata);
  keys.set(key_id, { ...made, is_revoked: false, entry });
}

function replayKey(keys: ReplayedAccounts['keys'], entry: WireEntry): void {
  const { action, resource_id: id, metadata, sequence } = entry;
  const key = keys.get(id);
  if (action === 'key.made' || action === 'key.rotated')
    keys.set(id, { ...madeSchema.parse(metadata), is_revoked: false, entry: sequence });
  if (action === 'key.revoked' && key !== undefined) keys.set(id, { ...key, is_revoked: true, entry: sequence });
  if (action === 'key.withdrawn') keys.delete(id);
  const replaced = replacedSchema.safeParse(metadata).data;
  const old = replaced && keys.get(replaced.rotated_from);
  if (old) keys.set(replaced.rotated_from, { ...old, expires_at: replaced.old_expires_at, entry: sequence });
}

function replayPerson(people: ReplayedAccounts['people'], entry: WireEntry): void {
  const { action, resource_id: id, metadata, sequence } = entry;
  const person = people.get(id);
  if (action === 'person.joined' || action === 'sign_up.approved')
    people.set(id, { role: roleSchema.parse(metadata).role, is_disabled: false, entry: sequence });
  if (person === undefined) return;
  if (action === 'person.role_changed')
    people.set(id, { ...person, role: newRoleSchema.parse(metadata).to, entry: sequence });
  if (action === 'person.disabled' || action === 'person.enabled')
    people.set(id, { ...person, is_disabled: action === 'person.disabled', entry: sequence });
}
