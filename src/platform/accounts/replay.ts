import { z } from 'zod';
import type { WireEntry } from '../audit/api.ts';
import { CHANGES_PERSON } from './administration.ts';

/** Row as it follows from acts. */
export interface Replayed<Facts> {
  /** Members that acts determine; null for a row that an act removed. */
  facts: Facts | null;
  /** Number of the entry that changed the row last. */
  entry: number;
}

/** Members of an API key that acts determine. */
export interface ReplayedKey {
  name: string;
  scopes: string[];
  expires_at: string | null;
  bound_to: string | null;
  /** JSON list, as in the row. */
  streams: string | null;
  actor: string | null;
  is_revoked: boolean;
}

/** Members of a person that acts determine. */
export interface ReplayedPerson {
  role: string;
  is_disabled: boolean;
  has_authenticator: boolean;
  /** Number of the entry, as in the row. */
  act: number | null;
}

/** Rows that follow from acts, by id. */
export interface ReplayedAccounts {
  keys: Map<string, Replayed<ReplayedKey>>;
  people: Map<string, Replayed<ReplayedPerson>>;
  passkeys: Map<string, Replayed<{ person_id: string }>>;
  /** Links that were used or withdrawn. */
  links: Map<string, Replayed<{ is_ended: boolean }>>;
  /** Sign-ups that were approved or declined. */
  signUps: Map<string, Replayed<never>>;
}

const madeSchema = z.object({
  name: z.string(),
  scopes: z.array(z.string()),
  expires_at: z.string().nullable(),
  bound_to: z.string().nullable().default(null),
  streams: z
    .array(z.string())
    .transform((streams) => JSON.stringify(streams))
    .nullable()
    .default(null),
  actor: z.string().nullable().default(null),
});
const replacedSchema = z.object({ rotated_from: z.string(), old_expires_at: z.string().nullable() });
const initializedSchema = madeSchema.extend({ key_id: z.string() });
const roleSchema = z.object({ role: z.string() });
const newRoleSchema = z.object({ to: z.string() });
const factorSchema = z.object({
  kind: z.enum(['authenticator', 'passkey', 'all']),
  passkey_id: z.string().default(''),
});
const endedSchema = z.object({ link_id: z.string().optional(), sign_up_id: z.string().optional() });

/** Acts that use or end the link that they name. */
const ENDS_LINK = new Set(['person.joined', 'password.reset', 'invitation.withdrawn']);

/** Returns the rows that follow from the entries of `platform/administration`, in order. */
export async function replayAccounts(
  entries: AsyncIterable<WireEntry> | Iterable<WireEntry>,
): Promise<ReplayedAccounts> {
  const accounts: ReplayedAccounts = {
    keys: new Map(),
    people: new Map(),
    passkeys: new Map(),
    links: new Map(),
    signUps: new Map(),
  };
  for await (const entry of entries) {
    if (entry.resource_type === 'api_key') replayKey(accounts.keys, entry);
    else if (entry.resource_type === 'person') replayPerson(accounts.people, entry);
    else if (entry.action === 'platform.initialised') replayFirstKey(accounts.keys, entry);
    if (/^second_factor\./.test(entry.action)) replayFactor(accounts, entry);
    replayEnds(accounts, entry);
  }
  return accounts;
}

function replayFirstKey(keys: ReplayedAccounts['keys'], { metadata, sequence: entry }: WireEntry): void {
  const { key_id, ...made } = initializedSchema.parse(metadata);
  keys.set(key_id, { facts: { ...made, is_revoked: false }, entry });
}

function replayKey(keys: ReplayedAccounts['keys'], { action, resource_id: id, metadata, sequence: entry }: WireEntry) {
  if (action === 'key.made' || action === 'key.rotated')
    keys.set(id, { facts: { ...madeSchema.parse(metadata), is_revoked: false }, entry });
  if (action === 'key.revoked') change(keys, id, { is_revoked: true }, entry);
  if (action === 'key.withdrawn') keys.set(id, { facts: null, entry });
  const replaced = replacedSchema.safeParse(metadata).data;
  if (replaced) change(keys, replaced.rotated_from, { expires_at: replaced.old_expires_at }, entry);
}

function replayPerson(
  people: ReplayedAccounts['people'],
  { action, resource_id: id, metadata, sequence: entry }: WireEntry,
): void {
  if (action === 'person.joined' || action === 'sign_up.approved') {
    const { role } = roleSchema.parse(metadata);
    people.set(id, { facts: { role, is_disabled: false, has_authenticator: false, act: null }, entry });
  }
  if (action === 'person.role_changed') change(people, id, { role: newRoleSchema.parse(metadata).to }, entry);
  if (action === 'person.disabled') change(people, id, { is_disabled: true }, entry);
  if (action === 'person.enabled') change(people, id, { is_disabled: false }, entry);
  if (CHANGES_PERSON.has(action)) change(people, id, { act: entry }, entry);
}

function replayFactor(
  { people, passkeys }: ReplayedAccounts,
  { action, resource_id: person_id, metadata, sequence: entry }: WireEntry,
): void {
  const { kind, passkey_id } = factorSchema.parse(metadata);
  const isAdded = action === 'second_factor.added';
  if (kind !== 'passkey') change(people, person_id, { has_authenticator: isAdded }, entry);
  if (kind === 'passkey') passkeys.set(passkey_id, { facts: isAdded ? { person_id } : null, entry });
  if (kind !== 'all') return;
  for (const [id, { facts }] of passkeys) if (facts?.person_id === person_id) passkeys.set(id, { facts: null, entry });
}

function replayEnds({ links, signUps }: ReplayedAccounts, entry: WireEntry): void {
  const { action, resource_type: type, resource_id: id, metadata, sequence } = entry;
  const { link_id = type === 'link' ? id : undefined, sign_up_id = type === 'sign_up' ? id : undefined } =
    endedSchema.safeParse(metadata).data ?? {};
  if (ENDS_LINK.has(action) && link_id !== undefined)
    links.set(link_id, { facts: { is_ended: true }, entry: sequence });
  if ((action === 'sign_up.approved' || action === 'sign_up.declined') && sign_up_id !== undefined)
    signUps.set(sign_up_id, { facts: null, entry: sequence });
}

/** Changes members of a row that acts have made. */
function change<Facts>(rows: Map<string, Replayed<Facts>>, id: string, members: Partial<Facts>, entry: number): void {
  const facts = rows.get(id)?.facts;
  if (facts) rows.set(id, { facts: { ...facts, ...members }, entry });
}
