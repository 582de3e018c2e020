import { sql } from 'kysely';
import type { Reader } from '../../database/database.ts';
import type { CertificateStatus, RevocationReason } from '../enums.ts';
import type { AgentTables } from '../tables.ts';
import type { AgentVerification } from '../wire/agents.ts';

/**
 * Returns the query for the public state of an agent, which takes equally long for existing and unknown agents. Its
 * only parameter is the id; all other values are literals.
 */
export function standingQuery(reader: Reader) {
  return reader
    .tables<AgentTables>()
    .selectFrom('agents')
    .leftJoin('agent_identities as identity', (join) =>
      join.onRef('identity.agent_no', '=', 'agents.agent_no').on('identity.issue_no', '=', (of) =>
        of
          .selectFrom('agent_identities as newest')
          .whereRef('newest.agent_no', '=', 'agents.agent_no')
          .select(({ fn }) => fn.max('newest.issue_no').as('issue_no')),
      ),
    )
    .leftJoin('agent_revocations as ecdsa', (join) =>
      join.on('ecdsa.kind', '=', sql.lit('ecdsa')).onRef('ecdsa.serial', '=', 'identity.ecdsa_serial'),
    )
    .leftJoin('agent_revocations as ml_dsa_65', (join) =>
      join.on('ml_dsa_65.kind', '=', sql.lit('ml_dsa_65')).onRef('ml_dsa_65.serial', '=', 'identity.ml_dsa_65_serial'),
    )
    .select(['agents.agent_id', 'agents.state', 'agents.tier', 'agents.composition_changed_at'])
    .select(['identity.did', 'identity.public_keys', 'identity.not_after', 'identity.issued_at'])
    .select(['identity.ecdsa_serial', 'identity.ml_dsa_65_serial', 'identity.passport_jti', 'identity.passport_status'])
    .select(['ecdsa.reason as ecdsa_reason', 'ml_dsa_65.reason as ml_dsa_65_reason'])
    .where('agents.agent_id', '=', '');
}
export type StandingRow = Awaited<ReturnType<ReturnType<typeof standingQuery>['executeTakeFirstOrThrow']>>;

/** Returns the public view of an agent, without tools, APIs, name or owner. */
export function toVerification(row: StandingRow, now: Date): AgentVerification {
  const parts = issuedParts(row, now);
  const reasons = reasonsOf(row, parts);
  return {
    agent_id: row.agent_id,
    valid: reasons.length === 0,
    status: row.state,
    reasons,
    checked_at: now.toISOString(),
    tier: row.tier,
    ...parts,
  };
}

type IssuedParts = Pick<AgentVerification, 'identity' | 'certificate' | 'passport'>;

function issuedParts(row: StandingRow, now: Date): IssuedParts {
  const { did, public_keys, ecdsa_serial, ml_dsa_65_serial, not_after, issued_at, passport_jti, passport_status } = row;
  // The columns of a left join are all present or all null.
  if (did === null || public_keys === null || ecdsa_serial === null || ml_dsa_65_serial === null)
    return { identity: null, certificate: null, passport: null };
  if (not_after === null || issued_at === null || passport_jti === null || passport_status === null)
    throw new Error('an identity is incomplete');
  const statusBy = (reason: RevocationReason | null) => certificateStatus(row, reason, now);
  return {
    identity: { did, public_keys: JSON.parse(public_keys) },
    certificate: {
      serial: ecdsa_serial,
      not_after,
      status: statusBy(row.ecdsa_reason),
      pq: { serial: ml_dsa_65_serial, status: statusBy(row.ml_dsa_65_reason) },
    },
    passport: { jti: passport_jti, status: passport_status, issued_at, not_after },
  };
}

/**
 * Returns the status as in the revocation lists: certificates of a suspended agent are on hold, whatever the reason.
 */
function certificateStatus(
  { state, not_after }: StandingRow,
  reason: RevocationReason | null,
  now: Date,
): CertificateStatus {
  if (reason !== null && reason !== 'certificateHold') return 'revoked';
  if (reason === 'certificateHold' || state === 'suspended') return 'on_hold';
  return not_after !== null && not_after <= now.toISOString() ? 'expired' : 'good';
}

function reasonsOf({ state, composition_changed_at }: StandingRow, { certificate, passport }: IssuedParts): string[] {
  const reasons = [
    state === 'active' ? '' : `The agent is ${state}.`,
    composition_changed_at === null ? '' : 'The agent differs from its passport.',
    passport === null
      ? 'It has no passport.'
      : passport.status === 'valid'
        ? ''
        : `Its passport is ${passport.status}.`,
    certificate === null ? 'It has no certificate.' : '',
    ...[certificate?.status, certificate?.pq.status].map((status) =>
      status === undefined || status === 'good' ? '' : `Its certificate is ${status.replace('_', ' ')}.`,
    ),
  ];
  return [...new Set(reasons.filter((reason) => reason !== ''))];
}
