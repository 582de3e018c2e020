import { whereDefined } from '../../core/defined.ts';
import { shellWord } from '../../core/shell.ts';
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

const ASK_PROVIDER = 'Keep this bundle, and ask the operator of the service to explain it, entry by entry.';
const ASK_AUTHORITY =
  'Keep this bundle, and ask the operator of the service for a checkpoint with a sound token of its time-stamping authority.';
const EXPORT_AGAIN =
  'Have the stream exported again, with --revise where the run is finalized; if it stays, ask the operator of the service.';

/** Severity and next step of each code. A finding's message says only what happened. */
const CODES = {
  'order/gap': {
    severity: 'error',
    nextStep: `${ASK_PROVIDER} Ask for the missing entries by number. If its clock was set back, they may be dated outside of the period: an export of all time would have them.`,
  },
  'order/broken-link': { severity: 'error', nextStep: ASK_PROVIDER },
  'order/duplicate': { severity: 'error', nextStep: EXPORT_AGAIN },
  'order/fork': { severity: 'error', nextStep: `${ASK_PROVIDER} Ask which of the two entries is the true one.` },
  'order/reordered': { severity: 'error', nextStep: EXPORT_AGAIN },
  'order/foreign-entry': { severity: 'error', nextStep: ASK_PROVIDER },
  'order/genesis': { severity: 'error', nextStep: ASK_PROVIDER },
  'order/clock-backwards': {
    severity: 'warning',
    nextStep: 'Ask whether the clock of the service was set back at that time.',
  },
  'secret/in-evidence': {
    severity: 'warning',
    nextStep:
      'Renew the API key, and ask the operator of the service why it records keys: whoever reads the evidence can use this one. To archive the evidence nevertheless, set verify.accept_secrets: true.',
  },
  'secret/accepted': {
    severity: 'notice',
    nextStep: 'Renew the API key, if that was not done yet: whoever reads the evidence can use it.',
  },
  'content/mismatch': {
    severity: 'error',
    nextStep: `${ASK_PROVIDER} Compare the entry with an earlier export or another source.`,
  },
  'content/ambiguous-json': { severity: 'error', nextStep: ASK_PROVIDER },
  'content/inexact-number': {
    severity: 'warning',
    nextStep:
      'Ask the operator of the service to send such numbers as text, or to make digests over the text as it is sent.',
  },
  'seal/malformed': { severity: 'error', nextStep: ASK_PROVIDER },
  'seal/missing': {
    severity: 'error',
    nextStep: `${ASK_PROVIDER} Who has no key can take seals away: compare these entries with an earlier export.`,
  },
  'seal/mismatch': {
    severity: 'error',
    nextStep: 'Check that the key given for this key id is the right one; if it is, ask the operator of the service.',
  },
  'seal/unknown-key': {
    severity: 'warning',
    nextStep:
      'Get the key of this id from the operator of the service, and give it with verify.seal_keys or --seal-key.',
  },
  'continuity/rewritten': {
    severity: 'error',
    nextStep: 'Compare this bundle with the one of the earlier run: what the service says happened has changed.',
  },
  'continuity/truncated': {
    severity: 'error',
    nextStep: 'Compare this bundle with the one of the earlier run: entries that were exported then are gone.',
  },
  'continuity/gap': {
    severity: 'error',
    nextStep: `${ASK_PROVIDER} Ask for the missing entries by number; none of the runs that border on them has them.`,
  },
  'continuity/unknown-start': {
    severity: 'notice',
    nextStep: 'Where no run has what came before, have the earlier period exported too, or all time once.',
  },
  'continuity/grown': {
    severity: 'warning',
    nextStep:
      'Ask the operator of the service when these entries were recorded. That the period had ended goes by the service where it said what time it was, else by the clock of who exported (data/transfer-log.json has both).',
  },
  'continuity/unfetched': {
    severity: 'warning',
    nextStep:
      'Run the same command again. If the service still does not list these entries, ask its operator which period they belong to.',
  },
  'continuity/accepted': {
    severity: 'warning',
    nextStep: 'Judge the reason. Earlier runs keep what they exported: compare with their bundles.',
  },
  'continuity/accepted-missing': {
    severity: 'warning',
    nextStep: 'Judge the reason. The earlier run keeps what it exported: look into its bundle.',
  },
  'continuity/stream-vanished': {
    severity: 'error',
    nextStep: (streamId) =>
      `Ask the operator of the service where the stream went; if it was ended on purpose, have that recorded with: evidence ledger accept ${shellWord(streamId)} --reason 'TEXT'.`,
  },
  'completeness/listing-differs': { severity: 'error', nextStep: ASK_PROVIDER },
  'completeness/count-differs': { severity: 'error', nextStep: EXPORT_AGAIN },
  'anchor/malformed': { severity: 'error', nextStep: ASK_AUTHORITY },
  'anchor/not-granted': { severity: 'error', nextStep: ASK_AUTHORITY },
  'anchor/imprint-mismatch': { severity: 'error', nextStep: ASK_PROVIDER },
  'anchor/nonce-mismatch': { severity: 'error', nextStep: ASK_AUTHORITY },
  'anchor/bad-signature': { severity: 'error', nextStep: ASK_AUTHORITY },
  'anchor/not-timestamping': { severity: 'error', nextStep: ASK_AUTHORITY },
  'anchor/untrusted': { severity: 'error', nextStep: ASK_AUTHORITY },
  'anchor/unknown-issuer': {
    severity: 'warning',
    nextStep:
      'If you trust this authority, get its root certificate from the authority itself and pin it with verify.timestamp_roots or --timestamp-roots.',
  },
  'anchor/future': {
    severity: 'warning',
    nextStep:
      'Check the clock of this machine. If it is right, ask the operator of the service why its authority is ahead.',
  },
  'anchor/missing-entry': { severity: 'error', nextStep: EXPORT_AGAIN },
  'anchor/before-entry': { severity: 'error', nextStep: ASK_PROVIDER },
  'anchor/other-stream': {
    severity: 'warning',
    nextStep:
      'Ask the operator of the service why the package holds checkpoints of another stream; they were not counted as its own.',
  },
  'anchor/certificate-expired': {
    severity: 'warning',
    nextStep: 'Have this digest time-stamped anew while the old token can still be checked.',
  },
  'agreement/count-differs': { severity: 'error', nextStep: EXPORT_AGAIN },
  'agreement/head-differs': { severity: 'error', nextStep: EXPORT_AGAIN },
  'agreement/package-differs': { severity: 'error', nextStep: EXPORT_AGAIN },
  'agreement/vendor-verdict-differs': {
    severity: 'error',
    nextStep:
      'Where only seals are refuted here, check first that the keys given are the right ones. Else show both verdicts to the operator of the service: one of the two checks is wrong.',
  },
  'agreement/vendor-check-failed': {
    severity: 'warning',
    nextStep:
      'Ask the operator of the service what its check found. Where seals were not checked here, give their keys: verify.seal_keys or --seal-key ID=FILE.',
  },
  'agreement/pdf-unread': {
    severity: 'warning',
    nextStep:
      'Open the PDF and compare its package, stream, count and head with the summary. It proves nothing by itself.',
  },
  'agreement/pdf-unclear': {
    severity: 'warning',
    nextStep: 'Open the PDF at these pages, and find out of what each value is. It proves nothing by itself.',
  },
  'agreement/other-entries': {
    severity: 'warning',
    nextStep:
      'Find out which of the two lists is the evidence: the contract names the one that was checked (package.entries).',
  },
  'package/unreadable': { severity: 'error', nextStep: EXPORT_AGAIN },
  'package/no-entries': { severity: 'error', nextStep: EXPORT_AGAIN },
  'package/foreign': { severity: 'error', nextStep: EXPORT_AGAIN },
  'contract/drift': {
    severity: 'error',
    nextStep:
      'The service changed, or speaks another contract: have `evidence probe` run against it, and compare what it finds.',
  },
} satisfies Record<string, { severity: Severity; nextStep: string | ((streamId: string) => string) }>;

/** Codes of findings about a stream. */
export type StreamFindingCode = keyof typeof CODES;

export const FINDING_CODES = Object.keys(CODES) as StreamFindingCode[];

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
  return CODES[code].severity;
}

/** Returns a finding with the severity and the next step of its code. */
export function toStreamFinding(
  code: StreamFindingCode,
  streamId: string,
  message: string,
  place: FindingPlace = {},
): StreamFinding {
  const { severity, nextStep } = CODES[code];
  const { sequence, from, to, entryId: entry_id, recordedAt: recorded_at, actor, action, expected, actual } = place;
  return {
    code,
    severity,
    stream_id: streamId,
    ...whereDefined({ sequence, from, to, entry_id, recorded_at, actor, action, expected, actual }),
    message,
    next_step: typeof nextStep === 'string' ? nextStep : nextStep(streamId),
  };
}

const GET_UNALTERED =
  'Get the bundle as it was packed, and verify that: this one was altered since, so nothing here is to be laid to the service.';

/**
 * Returns a finding about evidence that was altered after it was received: its next step does not blame the service.
 */
export function inAltered(finding: StreamFinding): StreamFinding {
  return { ...finding, next_step: GET_UNALTERED };
}
