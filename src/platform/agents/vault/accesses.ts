import type { Json } from '../../../core/json/canonical.ts';
import type { Transaction } from '../../database/database.ts';
import { DomainError } from '../../errors.ts';
import type { Agent } from '../agent-rows.ts';
import type { TakenSecret, WireSecret } from '../wire/vault.ts';
import { type AgentDecoy, endDecoy } from './decoys.ts';
import type { DecoyUse } from './tripping.ts';
import {
  type AgentSecret,
  changeSecret,
  deleteSecret,
  endLeases,
  insertSecret,
  type OpenedVault,
  secretsOfAgent,
  takeLease,
} from './vault-rows.ts';

/** Maximum number of secrets of one agent, including its decoys. */
const MOST_SECRETS = 500;

/** Kinds of access to a secret: the action in entries, and the use if the secret is a decoy. */
export const ACCESSES = {
  get: { action: 'vault.secret_taken', use: 'read' },
  put: { action: 'vault.secret_put', use: 'overwritten' },
  remove: { action: 'vault.secret_removed', use: 'removed' },
} as const satisfies Record<string, { action: string; use: DecoyUse }>;
export type AccessKind = keyof typeof ACCESSES;

/** Secret that an authorized caller accesses. */
export interface Accessed {
  agent: Agent;
  vault: OpenedVault;
  name: string;
  secret: AgentSecret | undefined;
  decoy: AgentDecoy | undefined;
  /** Caller, as named in entries. */
  by: string;
  now: Date;
}

/** Result of an access. */
export interface AccessDone<T> {
  answer: T;
  /** Metadata of the entry, without the value. */
  more: { [name: string]: Json };
}

/**
 * Returns the refusal of an access: `agent_suspended`, `agent_revoked`, or null if the access is allowed. The agent's
 * own key requires an active agent. Other callers may still write and remove the secrets of a suspended agent, remove
 * those of a revoked one, and list either.
 */
export function refusalOf({ state }: Agent, kind: AccessKind | 'list', isOwnKey: boolean): DomainError | null {
  if (state === 'revoked' && (isOwnKey || kind === 'get' || kind === 'put'))
    return new DomainError(
      'agent_revoked',
      'the agent is permanently revoked, so its vault hands out and accepts nothing',
    );
  if (state === 'suspended' && (isOwnKey || kind === 'get'))
    return new DomainError(
      'agent_suspended',
      'the agent is suspended, so its vault hands out nothing until it is reinstated',
    );
  return null;
}

/** @throws DomainError `not_found`, before anything is written. */
export async function giveSecret(
  transaction: Transaction,
  { vault, secret, by, now }: Accessed,
): Promise<AccessDone<TakenSecret>> {
  if (secret === undefined) throw noSecret();
  const value = vault.open(secret);
  const lease = await takeLease(transaction, secret, { by, now });
  return { answer: { ...secretToWire(secret), value, lease }, more: { version: secret.version, ...lease } };
}

/** @throws DomainError `conflict`, before anything is written. */
export async function putSecret(
  transaction: Transaction,
  { agent, vault, name, secret, by, now }: Accessed,
  value: string,
): Promise<AccessDone<WireSecret>> {
  const { agent_no } = agent;
  const version = (secret?.version ?? 0) + 1;
  const put = { version, sealed: vault.seal(value, { name, version }), put_at: now.toISOString(), put_by: by };
  if (secret !== undefined) await changeSecret(transaction, secret, put);
  else {
    if ((await secretsOfAgent(transaction, agent)).length >= MOST_SECRETS)
      throw new DomainError('conflict', `the vault already has ${MOST_SECRETS} secrets; remove one first`);
    await insertSecret(transaction, { agent_no, name, ...put });
  }
  return { answer: secretToWire({ name, ...put }), more: { version } };
}

/** @throws DomainError `not_found`, before anything is written. */
export async function removeSecret(
  transaction: Transaction,
  { agent, secret, decoy, now }: Accessed,
): Promise<AccessDone<WireSecret>> {
  if (secret === undefined) throw noSecret();
  const { name, version } = secret;
  const { ended } = await endLeases(transaction, agent, { name, because: 'the secret was removed', now });
  await deleteSecret(transaction, secret);
  if (decoy !== undefined) await endDecoy(transaction, decoy, now.toISOString());
  return { answer: secretToWire(secret), more: { version, ended_leases: ended } };
}

export function secretToWire({ name, version, put_at }: Pick<AgentSecret, 'name' | 'version' | 'put_at'>): WireSecret {
  return { name, version, put_at };
}

function noSecret(): DomainError {
  return new DomainError('not_found', 'the vault has no secret with this name');
}
