import { whereDefined } from '../../core/defined.ts';
import type { Entry } from './entry.ts';
import type { Finding, Severity } from './finding.ts';

/** Finding about a stream as written into records: one entry, or consecutive ones as the range `from` to `to`. */
export interface StreamFinding extends Finding<StreamFindingCode> {
  stream_id: string;
  sequence?: number;
  from?: number;
  to?: number;
  entry_id?: string;
  /** Statements of the one entry: when it was recorded, and who did what. */
  recorded_at?: string;
  actor?: string;
  action?: string;
}

/** Severity of each code. A finding's message says only what happened. */
const SEVERITIES = {
  'order/gap': 'error',
  'order/broken-link': 'error',
  'order/duplicate': 'error',
  'order/fork': 'error',
  'order/reordered': 'error',
  'order/foreign-entry': 'error',
  'order/genesis': 'error',
  'order/clock-backwards': 'warning',
  'order/clock-corrected': 'notice',
  'secret/in-evidence': 'warning',
  'secret/accepted': 'notice',
  'content/mismatch': 'error',
  'content/ambiguous-json': 'error',
  'content/inexact-number': 'warning',
  'seal/malformed': 'error',
  'seal/missing': 'error',
  'seal/mismatch': 'error',
  'seal/unknown-key': 'warning',
  'continuity/rewritten': 'error',
  'continuity/truncated': 'error',
  'continuity/gap': 'error',
  'continuity/unknown-start': 'notice',
  'continuity/grown': 'warning',
  'continuity/unfetched': 'warning',
  'continuity/accepted': 'warning',
  'continuity/accepted-missing': 'warning',
  'continuity/stream-vanished': 'error',
  'completeness/listing-differs': 'error',
  'completeness/count-differs': 'error',
  'anchor/malformed': 'error',
  'anchor/not-granted': 'error',
  'anchor/imprint-mismatch': 'error',
  'anchor/nonce-mismatch': 'error',
  'anchor/bad-signature': 'error',
  'anchor/not-timestamping': 'error',
  'anchor/untrusted': 'error',
  'anchor/unknown-issuer': 'warning',
  'anchor/future': 'warning',
  'anchor/missing-entry': 'error',
  'anchor/before-entry': 'error',
  'anchor/other-stream': 'warning',
  'anchor/certificate-expired': 'warning',
  'agreement/count-differs': 'error',
  'agreement/head-differs': 'error',
  'agreement/package-differs': 'error',
  'agreement/vendor-verdict-differs': 'error',
  'agreement/vendor-check-failed': 'warning',
  'agreement/pdf-unread': 'warning',
  'agreement/pdf-unclear': 'warning',
  'agreement/other-entries': 'warning',
  'package/unreadable': 'error',
  'package/no-entries': 'error',
  'package/foreign': 'error',
  'contract/drift': 'error',
} satisfies Record<string, Severity>;

/** Codes of findings about a stream. */
export type StreamFindingCode = keyof typeof SEVERITIES;

export const FINDING_CODES = Object.keys(SEVERITIES) as StreamFindingCode[];

export interface FindingPlace {
  sequence?: number | undefined;
  from?: number | undefined;
  to?: number | undefined;
  entryId?: string | undefined;
  recordedAt?: string | undefined;
  actor?: string | undefined;
  action?: string | undefined;
  expected?: string | undefined;
  actual?: string | undefined;
}

/** Returns the place of a finding about one entry: its number and its readable fields. */
export function placeOf({ sequence, entryId, timestamp, words }: Entry): FindingPlace {
  const { actor, action } = words();
  const recordedAt = timestamp === '' ? undefined : timestamp;
  return { sequence, entryId, recordedAt, actor: actor ?? undefined, action: action ?? undefined };
}

export function findingSeverity(code: StreamFindingCode): StreamFinding['severity'] {
  return SEVERITIES[code];
}

/** Returns a finding with the severity of its code. */
export function toStreamFinding(
  code: StreamFindingCode,
  streamId: string,
  message: string,
  place: FindingPlace = {},
): StreamFinding {
  const { sequence, from, to, entryId: entry_id, recordedAt: recorded_at, actor, action, expected, actual } = place;
  return {
    code,
    severity: SEVERITIES[code],
    stream_id: streamId,
    ...whereDefined({ sequence, from, to, entry_id, recorded_at, actor, action, expected, actual }),
    message,
  };
}
