import { ACCOUNT_TABLES } from '../../../../src/platform/accounts/tables.ts';
import { ALERT_TABLES } from '../../../../src/platform/alerts/tables.ts';
import { AUDIT_TABLES } from '../../../../src/platform/audit/tables.ts';
import type { EditedTable, Row } from './rows.ts';

/** Tables whose edits are listed. */
export const TABLES = { ...ACCOUNT_TABLES, ...ALERT_TABLES, ...AUDIT_TABLES };
type Tables = typeof TABLES;

export const TABLE_NAMES = Object.keys(TABLES) as (keyof Tables)[];

/** Edit that nothing finds, so that `help tampering` names it. */
export const NAMED = 'named';
/** Edit that the database refuses. */
export const REFUSED = 'refused';
/** Edit that is found when the package is downloaded. */
export const AT_USE = 'at use';

/** One of the above, or codes of `evidence-platform fsck`, separated by spaces. Those of a stream are also of Verify. */
type Found = string;

interface Expected<Column extends string> extends Partial<Pick<EditedTable, 'row' | 'values' | 'unique'>> {
  /** Another value in each column of a row. */
  update: Readonly<Record<Column, Found>>;
  /** A row that is removed. */
  delete: Found;
  /** A copy of a row that is added. */
  insert: Found;
}

/** Returns the same for several columns. */
function each<const Column extends string>(found: Found, columns: readonly Column[]): Record<Column, Found> {
  return Object.fromEntries(columns.map((column) => [column, found])) as Record<Column, Found>;
}

const SEAL = 'row_seal_mismatch';
const MEMBER = 'row_seal_mismatch row_contradicted';
const HEAD = 'head_seal_mismatch';
const CHECKPOINT = 'checkpoint_seal_mismatch';
const CHECK = 'verification_seal_mismatch checks_changed';
const PACKAGE = 'package_seal_mismatch';

/** Every table, with every column: the compiler refuses a column that is missing here. */
export const EXPECTED: { readonly [Name in keyof Tables]: Expected<keyof Tables[Name]['columns'] & string> } = {
  api_keys: {
    row: { name: 'k' },
    update: {
      key_id: 'row_seal_mismatch row_missing',
      ...each(MEMBER, ['name', 'scopes', 'expires_at', 'revoked_at', 'bound_to', 'streams', 'actor']),
      ...each(SEAL, ['sha256', 'created_at', 'rotated_from', 'lineage', 'maker_id', 'seal']),
      last_used_at: NAMED,
    },
    delete: 'row_missing',
    insert: SEAL,
  },
  people: {
    values: { role: 'auditor' },
    update: {
      person_id: 'row_seal_mismatch row_missing',
      ...each(MEMBER, ['role', 'disabled_at', 'totp_secret', 'act']),
      ...each(SEAL, ['email', 'name', 'password', 'recovery_codes', 'passkeys', 'created_at', 'seal']),
      totp_step: NAMED,
    },
    delete: 'row_missing',
    insert: SEAL,
  },
  links: {
    values: { purpose: 'invite' },
    update: each(SEAL, ['link_id', 'sha256', 'purpose', 'content', 'expires_at', 'used_at', 'made_by', 'seal']),
    delete: NAMED,
    insert: SEAL,
  },
  sign_ups: {
    update: each(SEAL, ['sign_up_id', 'email', 'name', 'password', 'requested_at', 'seal']),
    delete: NAMED,
    insert: SEAL,
  },
  failed_attempts: {
    update: each(NAMED, ['subject', 'failures', 'forgiven_at']),
    delete: NAMED,
    insert: NAMED,
  },
  passkeys: {
    update: {
      passkey_id: 'row_seal_mismatch row_missing',
      person_id: MEMBER,
      ...each(SEAL, ['credential_id', 'name', 'public_key', 'transports', 'created_at', 'seal']),
      ...each(NAMED, ['counter', 'last_used_at']),
    },
    delete: 'row_missing',
    insert: SEAL,
  },
  spent_challenges: { update: each(NAMED, ['sha256', 'until']), delete: NAMED, insert: NAMED },
  sessions: {
    update: {
      ...each(SEAL, ['sha256', 'session_id', 'person_id', 'csrf', 'created_at', 'proved_at']),
      ...each(SEAL, ['network', 'browser', 'seal']),
      seen_at: NAMED,
    },
    delete: NAMED,
    insert: SEAL,
  },
  alerting_channels: {
    update: {
      channel_no: NAMED,
      ...each('row_seal_mismatch row_missing', ['alert_channel_id', 'removed_at']),
      ...each(SEAL, ['kind', 'name', 'target', 'least_severity', 'sources', 'secret', 'created_at', 'seal']),
    },
    delete: 'row_missing',
    insert: SEAL,
  },
  alert_messages: {
    update: {
      ...each(SEAL, ['message_id', 'alert_channel_id', 'source', 'kind', 'severity', 'subject_id', 'group_key']),
      ...each(SEAL, ['level', 'flood_key', 'made_at', 'state', 'attempts', 'delivered_at', 'seal']),
    },
    delete: NAMED,
    insert: SEAL,
  },
  verifications: {
    values: { verified: 0 },
    update: {
      verification_no: 'checks_changed',
      stream_no: 'verification_missing checks_changed',
      number: 'verification_seal_mismatch verification_missing checks_changed',
      ...each(CHECK, ['verification_id', 'verified', 'began_at', 'checked_at', 'entries_checked', 'from_sequence']),
      ...each(CHECK, ['to_sequence', 'head_hash', 'sound_through', 'clock_corrections', 'failures_sha256', 'seal']),
      failures: 'verification_seal_mismatch',
    },
    delete: 'verification_missing checks_changed',
    insert: 'verification_seal_mismatch',
  },
  streams: {
    row: { stream_id: 's' },
    update: {
      stream_no:
        'head_mismatch count_mismatch checkpoint_missing anchor_missing verification_missing package_missing checks_changed',
      stream_id:
        'likeness_mismatch hash_mismatch unknown_seal_key head_seal_mismatch checkpoint_seal_mismatch verification_seal_mismatch package_seal_mismatch checks_changed',
      likeness: 'likeness_mismatch',
      entry_count: `count_mismatch ${HEAD}`,
      ...each(`head_mismatch ${HEAD}`, ['head_sequence', 'head_hash']),
      ...each(HEAD, ['created_at', 'last_entry_at']),
      checkpoint_count: `${HEAD} checkpoint_missing`,
      anchored_count: `${HEAD} anchor_missing`,
      verification_count: `${HEAD} verification_missing`,
      package_count: `${HEAD} package_missing`,
      seal_epoch: `seal_epoch_mismatch ${HEAD}`,
      head_seal: `${HEAD} heads_mismatch`,
      verification_no: 'checks_changed',
    },
    delete: 'heads_mismatch streams_missing checks_changed',
    insert:
      'likeness_mismatch head_mismatch count_mismatch head_seal_mismatch checkpoint_missing anchor_missing verification_missing package_missing heads_mismatch checks_changed',
  },
  totals: {
    update: { id: REFUSED, ...each('totals_changed', ['streams', 'verified', 'failed', 'reached', 'seal']) },
    delete: 'totals_changed',
    insert: REFUSED,
  },
  head_sums: {
    row: { lane: 0 },
    update: each('heads_mismatch', ['lane', 'changes', 'nonce', 'sum', 'seen', 'seal']),
    delete: 'heads_mismatch',
    insert: 'heads_mismatch',
  },
  entries: {
    row: { recorded: 3 },
    values: { metadata: '{}' },
    unique: ['sequence'],
    update: {
      recorded: 'order_mismatch',
      stream_no: 'sequence_gap broken_link count_mismatch hour_mismatch index_mismatch',
      sequence: 'sequence_gap broken_link hash_mismatch order_mismatch head_mismatch',
      timestamp: 'hash_mismatch hour_mismatch index_mismatch',
      ...each('hash_mismatch index_mismatch', ['actor', 'action', 'resource_type', 'resource_id']),
      // The edit takes words away, and the index then only finds too much.
      ...each('hash_mismatch', ['entry_id', 'occurred_at', 'recorded_by', 'metadata']),
      prev_hash: 'broken_link hash_mismatch',
      seal_key_id: 'hash_mismatch unknown_seal_key',
      hash: 'hash_mismatch seal_mismatch broken_link',
      seal: 'seal_mismatch',
    },
    delete: 'sequence_gap broken_link count_mismatch hour_mismatch',
    insert: 'sequence_gap broken_link hash_mismatch head_mismatch count_mismatch hour_mismatch',
  },
  entry_zones: {
    update: each('index_mismatch', ['zone', 'first_at', 'last_at']),
    delete: NAMED,
    insert: 'index_mismatch',
  },
  entry_hours: {
    unique: ['hour'],
    update: each('hour_mismatch', ['hour', 'stream_no', 'entries']),
    delete: 'hour_mismatch',
    insert: 'hour_mismatch',
  },
  hour_totals: {
    unique: ['hour'],
    update: { lane: NAMED, ...each('hour_mismatch', ['hour', 'entries']) },
    delete: 'hour_mismatch',
    insert: 'hour_mismatch',
  },
  checkpoints: {
    values: { status: 'pending', authority: 'external' },
    unique: ['number'],
    update: {
      ordinal: NAMED,
      stream_no: 'checkpoint_missing anchor_missing',
      number: `${CHECKPOINT} checkpoint_missing anchor_missing`,
      sequence: `checkpoint_mismatch ${CHECKPOINT}`,
      hash: `checkpoint_mismatch ${CHECKPOINT} checkpoint_token_mismatch`,
      ...each(CHECKPOINT, ['checkpoint_id', 'created_at', 'status', 'tsa_url', 'seal']),
      ...each(`${CHECKPOINT} checkpoint_token_mismatch`, ['authority', 'gen_time', 'token']),
      anchored_as: `${CHECKPOINT} anchor_missing`,
    },
    delete: 'checkpoint_missing anchor_missing',
    insert: CHECKPOINT,
  },
  packages: {
    update: {
      stream_no: 'package_missing',
      number: `${PACKAGE} package_missing`,
      ...each(PACKAGE, ['package_id', 'title', 'created_at', 'entry_count', 'first_sequence', 'last_sequence']),
      ...each(PACKAGE, ['checkpoints', 'anchored', 'head', 'summary', 'seal']),
      ...each(AT_USE, ['json_sha256', 'json_seal', 'pdf', 'pdf_seal']),
    },
    delete: 'package_missing',
    insert: PACKAGE,
  },
};

const NO_ROW: Row = {};

/** Returns a declared table, with what editing it needs. */
export function editedTable(name: keyof Tables): EditedTable {
  const { row = NO_ROW, values = NO_ROW, unique = [] } = EXPECTED[name];
  return { name, columns: TABLES[name].columns, row, values, unique };
}
