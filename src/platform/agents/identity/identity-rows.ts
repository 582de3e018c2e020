import { type Selectable, sql } from 'kysely';
import type { Reader, Transaction } from '../../database/database.ts';
import { rowChanger } from '../../rows.ts';
import { CERTIFICATE_KINDS, type CertificateKind, type PassportStatus, type RevocationReason } from '../enums.ts';
import { AGENT_TABLES, type AgentTables } from '../tables.ts';

export type AgentIdentity = Selectable<AgentTables['agent_identities']>;

/** Public key (RFC 7518, RFC 8037, RFC 9964 section 3), with its RFC 7638 thumbprint as `kid`. */
export type PublicJwk = { kty: string; kid: string; alg: string; crv?: string; x?: string; y?: string; pub?: string };
export type AgentKeyName = 'ed25519' | 'ml_dsa_65' | 'ecdsa_p256';
export type AgentPublicKeys = Readonly<Record<AgentKeyName, PublicJwk>>;

/** Name of a certificate revocation list, one for each generation of the platform's keys. */
export interface RevocationListName {
  kind: CertificateKind;
  generation: number;
}

/** Certificate that is revoked or on hold. */
export interface Revocation {
  /** Serial number in 40 hex digits. */
  serial: string;
  revokedAt: Date;
  reason: RevocationReason;
}

/** Returns the last identity issued to an agent; null if it was never onboarded. */
export async function currentIdentity(reader: Reader, agentNo: number): Promise<AgentIdentity | null> {
  const identities = reader.tables<AgentTables>().selectFrom('agent_identities').selectAll();
  const own = identities.where('agent_no', '=', agentNo).orderBy('issue_no', 'desc').limit(1);
  return (await own.executeTakeFirst()) ?? null;
}

/**
 * Returns the query for the last identities of several agents, without reading earlier ones, of which there may be
 * many.
 */
export function currentIdentities(reader: Reader, agentNos: readonly number[]) {
  return reader
    .tables<AgentTables>()
    .selectFrom('agent_identities')
    .where('agent_no', 'in', agentNos.length === 0 ? [-1] : [...agentNos])
    .where('issue_no', '=', (of) =>
      of
        .selectFrom('agent_identities as newest')
        .whereRef('newest.agent_no', '=', 'agent_identities.agent_no')
        .select(({ fn }) => fn.max('newest.issue_no').as('issue_no')),
    );
}

export const changeIdentity = rowChanger(AGENT_TABLES, 'agent_identities', 'identity_no');

export function changePassport(
  transaction: Transaction,
  identity: Pick<AgentIdentity, 'identity_no'>,
  passport_status: PassportStatus,
  now: Date,
): Promise<void> {
  return changeIdentity(transaction, identity, { passport_status, status_changed_at: now.toISOString() });
}

/**
 * Adds both certificates of an identity to the revocation lists. A hold becomes permanent; a permanent revocation stays
 * as it is.
 * @returns the serials whose state changed.
 */
export async function revokeCertificates(
  transaction: Transaction,
  identity: AgentIdentity,
  { reason, now }: { reason: RevocationReason; now: Date },
): Promise<string[]> {
  const { generation, identity_no } = identity;
  const revocations = transaction.tables<AgentTables>().insertInto('agent_revocations');
  const rows = CERTIFICATE_KINDS.map((kind) => ({
    kind,
    generation,
    serial: serialOf(identity, kind),
    identity_no,
    reason,
    revoked_at: now.toISOString(),
  }));
  const insert = revocations.values(rows).onConflict((conflict) =>
    conflict
      .columns(['kind', 'serial'])
      .doUpdateSet((excluded) => ({ reason: excluded.ref('excluded.reason') }))
      .where('agent_revocations.reason', '=', 'certificateHold')
      .whereRef('agent_revocations.reason', '<>', sql.ref('excluded.reason')),
  );
  return (await insert.returning('serial').execute()).map(({ serial }) => serial);
}

/** Removes the certificates of an identity that are on hold from the lists. @returns their serials. */
export async function liftHold(
  transaction: Transaction,
  { identity_no }: Pick<AgentIdentity, 'identity_no'>,
): Promise<string[]> {
  const revocations = transaction.tables<AgentTables>().deleteFrom('agent_revocations').returning('serial');
  const held = revocations.where('identity_no', '=', identity_no).where('reason', '=', 'certificateHold');
  return (await held.execute()).map(({ serial }) => serial);
}

/**
 * Returns the rows for the list of a generation: everything revoked, and the certificates of all suspended agents,
 * whatever the reason.
 */
export async function revocationsOf(reader: Reader, { kind, generation }: RevocationListName): Promise<Revocation[]> {
  const tables = reader.tables<AgentTables>();
  const revoked = await tables
    .selectFrom('agent_revocations')
    .select(['serial', 'revoked_at', 'reason'])
    .where('kind', '=', kind)
    .where('generation', '=', generation)
    .orderBy('serial')
    .execute();
  const suspended = await tables
    .selectFrom('agent_identities')
    .innerJoin('agents', 'agents.agent_no', 'agent_identities.agent_no')
    .select([`${serialColumn(kind)} as serial`, 'agents.state_changed_at as revoked_at'])
    .where('agent_identities.generation', '=', generation)
    .where('agents.state', '=', 'suspended')
    .orderBy('identity_no')
    .execute();
  const named = new Set(revoked.map(({ serial }) => serial));
  const held = suspended
    .filter(({ serial }) => !named.has(serial))
    .map((row) => ({ ...row, reason: 'certificateHold' as const }));
  return [...revoked, ...held].map(({ serial, revoked_at, reason }) => ({
    serial,
    reason,
    revokedAt: new Date(revoked_at),
  }));
}

const serialColumn = (kind: CertificateKind) => `${kind}_serial` as const;

const serialOf = (identity: AgentIdentity, kind: CertificateKind): string => identity[serialColumn(kind)];

/** Returns the passports that are not valid, by their index in the list, and the length of the list. */
export async function passportStatuses(reader: Reader) {
  const identities = reader.tables<AgentTables>().selectFrom('agent_identities');
  const last = await identities.select('identity_no').orderBy('identity_no', 'desc').executeTakeFirst();
  const rows = identities.select(['identity_no', 'passport_status']).where('passport_status', '<>', 'valid');
  const others = new Map<number, PassportStatus>();
  for (const row of await rows.orderBy('identity_no').execute()) others.set(row.identity_no, row.passport_status);
  return { others, length: (last?.identity_no ?? 0) + 1 };
}
