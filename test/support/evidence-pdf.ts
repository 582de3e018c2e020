import type { EvidencePdf } from '../../src/platform/audit/pdf/sections.ts';
import type { WireCheckpoint, WireEntry, WireSummary } from '../../src/platform/audit/wire.ts';

const LIMITATIONS = [
  'It is not proved that everything that happened was recorded, or that what an entry says is true.',
  'Seals can be checked only with the seal keys, which the service keeps.',
  'Verification by the service is not repeated automatically; it states what was so when it was last run.',
];

/** Returns a package of `total` ordinary entries, as the service passes it to the PDF form. */
export function evidencePdf(total: number, change: (entry: WireEntry) => WireEntry = (entry) => entry): EvidencePdf {
  const entry = (sequence: number) => change(entryAt(sequence));
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => entry(from + index));
  const isWhole = total <= 200;
  return {
    title: 'Access to production, October 2026',
    summary: summaryOf(total),
    generatedAt: '2026-11-01T06:00:00.000Z',
    checkpoints: total === 0 ? [] : [checkpoint(1, 'development'), checkpoint(total, 'external')],
    first: isWhole ? range(1, total) : range(1, 100),
    last: isWhole ? [] : range(total - 99, total),
  };
}

export function hashOf(sequence: number): string {
  return sequence.toString(16).padStart(8, '0').repeat(8);
}

function entryAt(sequence: number): WireEntry {
  return {
    entry_id: `ent_${sequence}`,
    stream_id: 'iam.amazonaws.com',
    sequence,
    timestamp: timeAt(sequence),
    occurred_at: timeAt(sequence - 1),
    actor: `arn:aws:iam::111122223333:user/${['alice', 'benjamin', 'carol'][sequence % 3]}`,
    action: ['GetRole', 'PutRolePolicy', 'ListAttachedRolePolicies'][sequence % 3] ?? '',
    resource_type: 'AWS::IAM::Role',
    resource_id: `arn:aws:iam::111122223333:role/service-role/example-${sequence}`,
    recorded_by: 'key:k',
    metadata: {},
    prev_hash: hashOf(sequence - 1),
    seal_key_id: 'e1-0123456789abcdef',
    hash: hashOf(sequence),
    seal: 'f'.repeat(64),
  };
}

function timeAt(sequence: number): string {
  return new Date(Date.UTC(2026, 9, 1) + sequence * 61_007).toISOString();
}

function summaryOf(total: number): WireSummary {
  const tally = (...names: string[]) =>
    Object.fromEntries(names.map((name, index) => [name, Math.max(1, total - index)]));
  return {
    package_id: 'pkg_01JBQK7Z4N8T3W5X6Y7Z8A9B0C',
    stream_id: 'iam.amazonaws.com',
    period: { from: '2026-10-01T00:00:00.000Z', to: '2026-11-01T00:00:00.000Z' },
    entry_count: total,
    first_sequence: total === 0 ? null : 1,
    last_sequence: total === 0 ? null : total,
    head_hash: total === 0 ? null : hashOf(total),
    first_timestamp: total === 0 ? null : timeAt(1),
    last_timestamp: total === 0 ? null : timeAt(total),
    counts: {
      actors: tally(...Array.from({ length: 15 }, (_, index) => `arn:aws:iam::111122223333:user/user-${index}`)),
      actions: tally('GetRole', 'PutRolePolicy', 'ListAttachedRolePolicies'),
      resource_types: tally('AWS::IAM::Role', 'iam'),
    },
    verification: { verified: total > 0, last_checked_at: total === 0 ? null : '2026-11-01T05:59:58.120Z' },
    limitations: LIMITATIONS,
  };
}

function checkpoint(sequence: number, authority: 'external' | 'development'): WireCheckpoint {
  const isExternal = authority === 'external';
  return {
    checkpoint_id: `chk_${sequence}`,
    stream_id: 'iam.amazonaws.com',
    sequence,
    hash: hashOf(sequence),
    created_at: timeAt(sequence),
    anchor: {
      status: 'anchored',
      authority,
      tsa_url: isExternal ? 'https://tsa.example.com/tsr' : 'urn:evidence-platform:development-authority',
      gen_time: timeAt(sequence),
      token: 'AA==',
    },
  };
}
