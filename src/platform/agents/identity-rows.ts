import type { Selectable } from 'kysely';
import type { Reader, Transaction } from '../database/database.ts';
import type { Agent } from './agent-rows.ts';
import type { AgentIdentityTable, AgentRevocationTable } from './identity/schema.ts';
import type { AgentTables } from './schema.ts';
import { CERTIFICATE_CHAINS, type PassportStatus, type RevocationReason } from './words.ts';

export type AgentIdentity = Selectable<AgentIdentityTable>;
export type Revocation = Selectable<AgentRevocationTable>;

type OfAgent = Pick<Agent, 'agent_no'>;

/** What the last onboarding of an agent issued; null where there was none. */
export async function newestIdentity(reader: Reader, { agent_no }: OfAgent): Promise<AgentIdentity | null> {
  const identities = reader.tables<AgentTables>().selectFrom('agent_identities').selectAll();
  const newest = identities.where('agent_no', '=', agent_no).orderBy('issue_no', 'desc').limit(1);
  return (await newest.executeTakeFirst()) ?? null;
}

export async function setPassportStatus(
  transaction: Transaction,
  { identity_no }: Pick<AgentIdentity, 'identity_no'>,
  passport_status: PassportStatus,
  now: Date,
): Promise<void> {
  const identities = transaction.tables<AgentTables>().updateTable('agent_identities');
  const change = { passport_status, status_changed_at: now.toISOString() };
  await identities.set(change).where('identity_no', '=', identity_no).execute();
}

/** Suspends the passport of an agent where it is valid. @returns its jti; null where none was valid. */
export async function suspendPassport(transaction: Transaction, agent: OfAgent, now: Date): Promise<string | null> {
  const newest = await newestIdentity(transaction, agent);
  if (newest?.passport_status !== 'valid') return null;
  await setPassportStatus(transaction, newest, 'suspended', now);
  return newest.passport_jti;
}

/**
 * Puts both certificates of an identity on the lists of revoked ones. A hold becomes what is for ever; what is for ever
 * stays as it is, and so does a hold that is held again.
 */
export async function revokeCertificates(
  transaction: Transaction,
  identity: AgentIdentity,
  reason: RevocationReason,
  now: Date,
): Promise<void> {
  const standing = await standingRevocations(transaction, identity);
  if (standing.some((each) => each.reason !== 'certificateHold' || reason === 'certificateHold')) return;
  await liftHolds(transaction, identity, now);
  const { agent_no, identity_no, generation } = identity;
  const rows = CERTIFICATE_CHAINS.map((kind) => ({
    ...{ agent_no, identity_no, kind, generation, reason, revoked_at: now.toISOString(), lifted_at: null },
    serial: kind === 'ecdsa' ? identity.ecdsa_serial : identity.ml_dsa_65_serial,
  }));
  await transaction.tables<AgentTables>().insertInto('agent_revocations').values(rows).execute();
}

/** Takes the certificates of an identity off the lists where they are only held. */
export async function liftHolds(
  transaction: Transaction,
  { identity_no }: Pick<AgentIdentity, 'identity_no'>,
  now: Date,
): Promise<void> {
  const revocations = transaction.tables<AgentTables>().updateTable('agent_revocations');
  await revocations
    .set({ lifted_at: now.toISOString() })
    .where('identity_no', '=', identity_no)
    .where('reason', '=', 'certificateHold')
    .where('lifted_at', 'is', null)
    .execute();
}

async function standingRevocations(
  reader: Reader,
  { identity_no }: Pick<AgentIdentity, 'identity_no'>,
): Promise<Revocation[]> {
  const revocations = reader.tables<AgentTables>().selectFrom('agent_revocations').selectAll();
  return revocations.where('identity_no', '=', identity_no).where('lifted_at', 'is', null).execute();
}

/** What an agent that is suspended shows to strangers: a suspended passport, and certificates that are held. @returns as `suspendPassport`. */
export async function suspendIdentity(transaction: Transaction, agent: OfAgent, now: Date): Promise<string | null> {
  const newest = await newestIdentity(transaction, agent);
  if (newest !== null) await revokeCertificates(transaction, newest, 'certificateHold', now);
  return suspendPassport(transaction, agent, now);
}
