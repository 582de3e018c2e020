import { randomBytes, randomUUID } from 'node:crypto';
import type { Reader, Transaction } from '../../database/database.ts';
import { openWith, type SecretBox, sealWith } from '../../secrets.ts';
import type { Agent } from '../agent-rows.ts';
import type { AgentTables } from '../tables.ts';
import type { AgentSecret } from './secret-rows.ts';

/** The encryption of vaults, for people. */
export const VAULT_ENCRYPTION = 'AES-256-GCM with a random key for this agent alone, which the master key seals';
const KEY_BYTES = 32;

type Owner = Pick<Agent, 'agent_no' | 'agent_id'>;

/** The vault of an agent, with its key in hand. */
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

  /** @throws Error for what was sealed for another agent, name or version. */
  open(secret: Pick<AgentSecret, 'name' | 'version' | 'sealed'>): string {
    return openWith(this.#key, secret.sealed, this.#ownerOf(secret)).toString();
  }

  /** Neither ids nor names of secrets have a slash in them. */
  #ownerOf({ name, version }: Pick<AgentSecret, 'name' | 'version'>): string {
    return `${this.#agentId}/${name}/${version}`;
  }
}

/** The vault of an agent; null for one that has none yet. */
export async function findVault(
  reader: Reader,
  box: SecretBox,
  { agent_no, agent_id }: Owner,
): Promise<OpenedVault | null> {
  const vaults = reader.tables<AgentTables>().selectFrom('agent_vaults').selectAll();
  const row = await vaults.where('agent_no', '=', agent_no).executeTakeFirst();
  return row === undefined ? null : new OpenedVault(row.vault_id, box.open(row.sealed_key, agent_id), agent_id);
}

export async function makeVault(
  transaction: Transaction,
  box: SecretBox,
  { agent_no, agent_id }: Owner,
  now: Date,
): Promise<OpenedVault> {
  const key = randomBytes(KEY_BYTES);
  const row = { agent_no, vault_id: randomUUID(), sealed_key: box.seal(key, agent_id), made_at: now.toISOString() };
  await transaction.tables<AgentTables>().insertInto('agent_vaults').values(row).execute();
  return new OpenedVault(row.vault_id, key, agent_id);
}
