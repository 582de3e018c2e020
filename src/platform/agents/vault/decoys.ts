import { randomUUID } from 'node:crypto';
import type { Selectable } from 'kysely';
import type { Reader, Transaction } from '../../database/database.ts';
import { DomainError, there } from '../../errors.ts';
import type { Actor } from '../../http/principal.ts';
import { rowChanger, rowInserter } from '../../rows.ts';
import type { FileWatch, TrapOfVault, VaultTraps } from '../../traps/api.ts';
import { type Agent, allowancesOf } from '../agent-rows.ts';
import type { AgentEntry } from '../entries.ts';
import { AGENT_TABLES, type AgentTables } from '../tables.ts';
import type { NewDecoy, WireDecoy } from '../wire/vault.ts';
import { type AgentSecret, deleteSecret, insertSecret, type OpenedVault, secretNamed } from './vault-rows.ts';

/** Maximum number of decoys of one agent at a time. */
const MOST_DECOYS = 50;

/** Returns the trap for a decoy. @throws DomainError as `VaultTraps.prepareCredential`. */
export async function trapFor(traps: VaultTraps, input: NewDecoy, { name: agentName }: Agent): Promise<TrapOfVault> {
  const label = `${input.name} of ${agentName}`.slice(0, 200).toWellFormed();
  if (input.kind === 'tool') return traps.prepareTool(input.name, label);
  const { credential_type, decoy, options } = input;
  if (credential_type === undefined) return traps.prepareSecret(label);
  return traps.prepareCredential({ credential_type, decoy, options, label });
}

/**
 * Adds a decoy to the vault or the tools of an agent.
 * @throws DomainError `conflict` if the agent already has the name, or has too many decoys.
 */
export async function putDecoy(
  transaction: Transaction,
  { agent, vault, trap }: { agent: Agent; vault: OpenedVault; trap: TrapOfVault },
  { actor, input: { kind, name }, now }: { actor: Actor; input: NewDecoy; now: Date },
): Promise<AgentDecoy> {
  await refuseTaken(transaction, agent, { kind, name });
  if ((await decoysOf(transaction, agent)).length >= MOST_DECOYS)
    throw new DomainError('conflict', `the vault already has ${MOST_DECOYS} decoys; remove one first`);
  const at = now.toISOString();
  const { agent_no } = agent;
  const facts = { agent_no, name, version: 1, put_at: at, put_by: actor.name };
  const secret =
    kind === 'tool' ? null : await insertSecret(transaction, { ...facts, sealed: vault.seal(trap.value, facts) });
  const row = { decoy_id: randomUUID(), agent_no, sort: kind, name, secret_no: secret?.secret_no ?? null };
  const credential_id = await trap.store(transaction, actor);
  return insertDecoy(transaction, { ...row, credential_id, made_at: at, made_by: actor.name });
}

/** Removes a decoy from a vault. Its trap remains. */
export async function takeDecoyOut(transaction: Transaction, decoy: AgentDecoy, now: Date): Promise<void> {
  const { secret_no } = decoy;
  if (secret_no !== null) await deleteSecret(transaction, { secret_no });
  await endDecoy(transaction, decoy, now.toISOString());
}

export function decoyEntry(
  action: 'vault.decoy_made' | 'vault.decoy_removed',
  { agent_id: agentId }: Agent,
  { actor, decoy }: { actor: Pick<Actor, 'name'>; decoy: AgentDecoy },
): AgentEntry {
  const { decoy_id, sort: kind, name, credential_id } = decoy;
  return { agentId, actor: actor.name, action, of: ['decoy', decoy_id], more: { kind, name, credential_id } };
}

export function decoyToWire({ agent_id }: Agent, decoy: AgentDecoy): WireDecoy {
  const { decoy_id, sort: kind, name, credential_id, made_at, made_by } = decoy;
  return { decoy_id, agent_id, kind, name, credential_id, made_at, made_by };
}

/** Returns for each trap that is a decoy whether its use would be detected now. */
export async function decoyWatches(reader: Reader): Promise<ReadonlyMap<string, FileWatch>> {
  const rows = await reader
    .tables<AgentTables>()
    .selectFrom('agent_decoys')
    .innerJoin('agents', 'agents.agent_no', 'agent_decoys.agent_no')
    .select(['credential_id', 'sort', 'removed_at', 'agents.name', 'state'])
    .execute();
  return new Map(rows.map((row) => [row.credential_id, watchOf(row)]));
}

type WatchedDecoy = Pick<AgentDecoy, 'sort' | 'removed_at'> & Pick<Agent, 'name' | 'state'>;

function watchOf({ name, sort, state, removed_at }: WatchedDecoy): FileWatch {
  if (removed_at !== null) return { active: false, reason: `It was removed from the vault of the agent "${name}".` };
  if (state !== 'active')
    return { active: false, reason: `The agent "${name}" is ${state}, so its vault hands out nothing.` };
  return sort === 'tool'
    ? { active: true, reason: `Each action that the agent "${name}" reports is checked for it.` }
    : { active: true, reason: `The vault of the agent "${name}" detects each read.` };
}

/** @throws DomainError `conflict`. */
async function refuseTaken(
  transaction: Transaction,
  agent: Agent,
  { kind, name }: Pick<NewDecoy, 'kind' | 'name'>,
): Promise<void> {
  const isTaken =
    kind === 'secret'
      ? (await secretNamed(transaction, agent, name)) !== undefined
      : allowancesOf(agent).allowed_tools.includes(name) ||
        (await decoyToolsOf(transaction, [agent.agent_no])).get(agent.agent_no)?.has(name) === true;
  if (isTaken) throw new DomainError('conflict', `name: the agent already has a ${kind} "${name}"`);
}

export type AgentDecoy = Selectable<AgentTables['agent_decoys']>;

/** Returns the decoys of an agent that were not removed, oldest first. */
export async function decoysOf(reader: Reader, { agent_no }: Pick<Agent, 'agent_no'>): Promise<AgentDecoy[]> {
  return await standing(reader).where('agent_no', '=', agent_no).orderBy('decoy_no').execute();
}

/** Returns the decoy that a secret of a vault is; undefined if it is none. */
export async function decoyOfSecret(
  reader: Reader,
  { secret_no }: Pick<AgentSecret, 'secret_no'>,
): Promise<AgentDecoy | undefined> {
  return await standing(reader).where('secret_no', '=', secret_no).executeTakeFirst();
}

/** Returns the decoy tools of agents, by the number of the agent and the name of the tool. */
export async function decoyToolsOf(
  reader: Reader,
  agentNos: readonly number[],
): Promise<Map<number, Map<string, AgentDecoy>>> {
  const found = new Map<number, Map<string, AgentDecoy>>();
  if (agentNos.length === 0) return found;
  const rows = await standing(reader)
    .where('agent_no', 'in', [...agentNos])
    .where('sort', '=', 'tool')
    .execute();
  for (const row of rows) found.set(row.agent_no, (found.get(row.agent_no) ?? new Map()).set(row.name, row));
  return found;
}

/** @throws DomainError `not_found`, also for a decoy that was removed or belongs to another agent. */
export async function findDecoy(
  reader: Reader,
  { agent_no }: Pick<Agent, 'agent_no'>,
  decoyId: string,
): Promise<AgentDecoy> {
  const decoys = standing(reader).where('agent_no', '=', agent_no).where('decoy_id', '=', decoyId);
  return there(await decoys.executeTakeFirst(), 'the vault has no decoy with this ID');
}

/** Returns the decoy of a trap, and its agent. @throws Error with a readable message if the decoy was removed. */
export async function decoyOfTrap(reader: Reader, credentialId: string) {
  const decoy = await standing(reader).where('credential_id', '=', credentialId).executeTakeFirst();
  if (decoy === undefined) throw new Error('The decoy is no longer in any vault.');
  const agents = reader.tables<AgentTables>().selectFrom('agents').select('agent_id');
  const { agent_id } = await agents.where('agent_no', '=', decoy.agent_no).executeTakeFirstOrThrow();
  return { agent_id, decoy };
}

const insertDecoy = rowInserter(AGENT_TABLES, 'agent_decoys');
const changeDecoy = rowChanger(AGENT_TABLES, 'agent_decoys', 'decoy_no');

export function endDecoy(transaction: Transaction, decoy: AgentDecoy, removed_at: string): Promise<void> {
  return changeDecoy(transaction, decoy, { removed_at, secret_no: null });
}

function standing(reader: Reader) {
  return reader.tables<AgentTables>().selectFrom('agent_decoys').selectAll().where('removed_at', 'is', null);
}
