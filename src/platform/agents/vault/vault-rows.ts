import { randomBytes, randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Reader, Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import { rowChanger, rowInserter } from '../../rows.ts';
import { openWith, type SecretBox, sealWith } from '../../secrets.ts';
import type { Agent } from '../agent-rows.ts';
import { AGENT_TABLES, type AgentTables } from '../tables.ts';
import type { TakenSecret } from '../wire/vault.ts';

/** Description of the encryption of vaults, for people. */
export const VAULT_ENCRYPTION = 'AES-256-GCM with a random key for each agent, sealed with the master key';
const KEY_BYTES = 32;

type VaultOwner = Pick<Agent, 'agent_no' | 'agent_id'>;

/** Vault of an agent, with its key. */
export class OpenedVault {
  readonly vaultId: string;
  readonly #key: Buffer;
  readonly #agentId: string;

  constructor(vaultId: string, key: Buffer, agentId: string) {
    this.vaultId = vaultId;
    this.#key = key;
    this.#agentId = agentId;
  }

  seal(value: string, secret: Pick<AgentSecret, 'name' | 'version'>): Uint8Array {
    return sealWith(this.#key, Buffer.from(value), this.#ownerOf(secret));
  }

  /** @throws Error if the secret was sealed for another agent, name or version. */
  open(secret: Pick<AgentSecret, 'name' | 'version' | 'sealed'>): string {
    return openWith(this.#key, secret.sealed, this.#ownerOf(secret)).toString();
  }

  /** Returns the context of a seal. Neither ids nor names of secrets contain a slash. */
  #ownerOf({ name, version }: Pick<AgentSecret, 'name' | 'version'>): string {
    return `${this.#agentId}/${name}/${version}`;
  }
}

/** Returns the vault of an agent; null if it has none yet. */
export async function findVault(
  reader: Reader,
  box: SecretBox,
  { agent_no, agent_id }: VaultOwner,
): Promise<OpenedVault | null> {
  const vaults = reader.tables<AgentTables>().selectFrom('agent_vaults').selectAll();
  const row = await vaults.where('agent_no', '=', agent_no).executeTakeFirst();
  return row === undefined ? null : new OpenedVault(row.vault_id, box.open(row.sealed_key, agent_id), agent_id);
}

/** Returns the vault of an agent. @throws DomainError `conflict` if it has none yet. */
export async function needVault(reader: Reader, box: SecretBox, agent: VaultOwner): Promise<OpenedVault> {
  const vault = await findVault(reader, box, agent);
  if (vault === null) throw new DomainError('conflict', 'the agent has no vault until it is onboarded');
  return vault;
}

const insertVault = rowInserter(AGENT_TABLES, 'agent_vaults');

export async function makeVault(
  transaction: Transaction,
  box: SecretBox,
  { agent_no, agent_id }: VaultOwner,
  now: Date,
): Promise<OpenedVault> {
  const key = randomBytes(KEY_BYTES);
  const row = { agent_no, vault_id: randomUUID(), sealed_key: box.seal(key, agent_id), made_at: now.toISOString() };
  await insertVault(transaction, row);
  return new OpenedVault(row.vault_id, key, agent_id);
}

export type AgentSecret = Selectable<AgentTables['agent_secrets']>;
type Owner = Pick<Agent, 'agent_no'>;

/** Returns the secrets of an agent by name, without their values. */
export async function secretsOfAgent(reader: Reader, { agent_no }: Owner): Promise<Omit<AgentSecret, 'sealed'>[]> {
  const secrets = reader.tables<AgentTables>().selectFrom('agent_secrets').where('agent_no', '=', agent_no);
  const rows = await secrets.select(['secret_no', 'agent_no', 'name', 'version', 'put_at', 'put_by']).execute();
  return rows.toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

export async function secretNamed(reader: Reader, { agent_no }: Owner, name: string): Promise<AgentSecret | undefined> {
  const secrets = reader.tables<AgentTables>().selectFrom('agent_secrets').selectAll();
  return await secrets.where('agent_no', '=', agent_no).where('name', '=', name).executeTakeFirst();
}

export const insertSecret = rowInserter(AGENT_TABLES, 'agent_secrets');

export const changeSecret = rowChanger(AGENT_TABLES, 'agent_secrets', 'secret_no');

export async function deleteSecret(
  transaction: Transaction,
  { secret_no }: Pick<AgentSecret, 'secret_no'>,
): Promise<void> {
  const secrets = transaction.tables<AgentTables>().deleteFrom('agent_secrets');
  await secrets.where('secret_no', '=', secret_no).execute();
}

/** Duration of a lease; a caller that needs the secret longer reads it again. */
const LEASE_MS = 60 * 60_000;
/** Time for which leases are kept; older ones are only in the audit stream. */
const KEPT_MS = 30 * 24 * 60 * 60_000;

const insertLease = rowInserter(AGENT_TABLES, 'agent_leases');

/** Records that a secret is handed out. */
export async function takeLease(
  transaction: Transaction,
  { agent_no, name, version }: Pick<AgentSecret, 'agent_no' | 'name' | 'version'>,
  { by, now }: { by: string; now: Date },
): Promise<TakenSecret['lease']> {
  const leases = transaction.tables<AgentTables>().deleteFrom('agent_leases').where('agent_no', '=', agent_no);
  await leases.where('until_at', '<', new Date(now.getTime() - KEPT_MS).toISOString()).execute();
  const lease = { lease_id: randomUUID(), until: new Date(now.getTime() + LEASE_MS).toISOString() };
  const taken = { taken_at: now.toISOString(), taken_by: by, until_at: lease.until };
  await insertLease(transaction, { lease_id: lease.lease_id, agent_no, name, version, ...taken });
  return lease;
}

/**
 * Ends an agent's running leases. Holders keep the values they have, so the returned names are those of secrets to be
 * rotated.
 * @param name of one secret; all if omitted.
 */
export async function endLeases(
  transaction: Transaction,
  { agent_no }: Owner,
  { name, because, now }: { name?: string; because: string; now: Date },
): Promise<{ ended: number; handed_out: string[] }> {
  const at = now.toISOString();
  const leases = transaction.tables<AgentTables>().updateTable('agent_leases').where('agent_no', '=', agent_no);
  const running = leases.where('ended_at', 'is', null).where('until_at', '>', at);
  const chosen = name === undefined ? running : running.where('name', '=', name);
  const rows = await chosen.set({ ended_at: at, ended_because: because }).returning('name').execute();
  return { ended: rows.length, handed_out: [...new Set(rows.map((row) => row.name))].sort() };
}

/** Counts running leases, and returns when each secret was last read, by name. */
export async function leasesOf(reader: Reader, { agent_no }: Owner, now: Date) {
  const leases = reader.tables<AgentTables>().selectFrom('agent_leases').where('agent_no', '=', agent_no);
  const running = leases.where('ended_at', 'is', null).where('until_at', '>', now.toISOString());
  const { count } = await running.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow();
  const last = await leases
    .groupBy('name')
    .select(({ fn }) => ['name', fn.max('taken_at').as('taken_at')])
    .execute();
  return { running: Number(count), lastTaken: new Map(last.map(({ name, taken_at }) => [name, taken_at])) };
}
