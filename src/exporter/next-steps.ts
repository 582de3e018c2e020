import { shellWord } from '../core/shell.ts';
import { entriesIn } from '../verifier/claims/continuity-question.ts';
import type { Advice } from '../verifier/model/finding.ts';
import type { StreamFindingCode } from '../verifier/model/stream-finding.ts';
import type { SupplementFindingCode } from '../verifier/model/supplement-finding.ts';
import type { ObjectFindingCode } from '../verifier/verify/object-finding.ts';
import type { OpenRun } from '../verifier/verify/open-runs.ts';

/** Fields of a finding that determine its next step. */
interface Found {
  code: string;
  advice?: Advice | undefined;
  stream_id?: string | undefined;
  from?: number | undefined;
  to?: number | undefined;
}

const ASK_PROVIDER = 'Keep this bundle, and ask the operator of the service to explain it, entry by entry.';
const ASK_AUTHORITY =
  'Keep this bundle, and ask the operator of the service for a checkpoint with a sound token of its time-stamping authority.';
const EXPORT_AGAIN =
  'Export the stream again, with --revise if the run is finalized; if the finding persists, ask the operator of the service.';

const ASK_SERVICE =
  'Keep the bag and the bundle of the stream, and ask the operator of the service which of the two is correct.';

const FETCH_AGAIN =
  'Keep the output of `evidence verify --json`, change nothing, and find out who can write to the store. A copy elsewhere or an earlier version of the object may have the archived content.';
const WHO_WROTE = 'Find out who put it there. It is not evidence, and `evidence` did not store it.';
const WHOSE_KEY =
  'Get the public key from the signers, not from the archive, and find out who wrote the objects that it does not cover.';
const WHICH_KEY =
  'Ask the signers whether this key is theirs. If so, add it with --public-key. This is not needed if the old key hands over with `evidence ledger hand-over`.';

const COMPARE_RUNS = 'Compare the bundles of both runs: the service changed its entries, or one bundle was altered.';

type Step = string | ((found: Found) => string);

const OF_FINDINGS: Record<
  StreamFindingCode | SupplementFindingCode | Exclude<ObjectFindingCode, `bundle/${string}`>,
  Step
> = {
  'order/gap': `${ASK_PROVIDER} Ask for the missing entries by number. If its clock was set back, they may be dated outside the period; an export with --all-time would include them.`,
  'order/broken-link': ASK_PROVIDER,
  'order/duplicate': EXPORT_AGAIN,
  'order/fork': `${ASK_PROVIDER} Ask which of the two entries is genuine.`,
  'order/reordered': EXPORT_AGAIN,
  'order/foreign-entry': ASK_PROVIDER,
  'order/genesis': ASK_PROVIDER,
  'order/clock-backwards': 'Ask whether the clock of the service was set back at that time.',
  'order/clock-corrected': 'Doubt the times of entries before this one that are later than its own.',
  'secret/in-evidence':
    'Renew the API key, and ask the operator of the service why it records keys: anyone who reads the evidence can use this one. To archive the evidence anyway, set verify.accept_secrets: true.',
  'secret/accepted': 'Renew the API key if you have not yet: anyone who reads the evidence can use it.',
  'content/mismatch': `${ASK_PROVIDER} Compare the entry with an earlier export or another source.`,
  'content/ambiguous-json': ASK_PROVIDER,
  'content/inexact-number':
    'Ask the operator of the service to send such numbers as text, or to compute digests over the text as sent.',
  'seal/malformed': ASK_PROVIDER,
  'seal/missing': `${ASK_PROVIDER} Removing seals needs no key, so compare these entries with an earlier export.`,
  'seal/mismatch':
    'Check that the key given for this key id is the right one; if it is, ask the operator of the service.',
  'seal/unknown-key':
    'Get the key with this id from the operator of the service, and set verify.seal_keys or --seal-key.',
  'continuity/rewritten': 'Compare this bundle with the one of the earlier run: the service changed its entries.',
  'continuity/truncated': 'Compare this bundle with the one of the earlier run: entries exported then are missing now.',
  'continuity/gap': `${ASK_PROVIDER} Ask for the missing entries by number; neither of the adjacent runs has them.`,
  'continuity/unknown-start':
    'If no run has the earlier entries, export the earlier period too, or once with --all-time.',
  'continuity/grown':
    'Ask the operator of the service when these entries were recorded. The end of the period is judged by the clock of the service if it sent the time, otherwise by the clock of the exporter (data/transfer-log.json has both).',
  'continuity/unfetched':
    'Run the same command again. If the service still does not list these entries, ask its operator which period they belong to.',
  'continuity/accepted': 'Judge the reason, and compare with the bundles of earlier runs.',
  'continuity/accepted-missing': 'Judge the reason, and look into the bundle of the earlier run.',
  'continuity/stream-vanished': ({ stream_id = '' }) =>
    `Ask the operator of the service where the stream went; if it was ended on purpose, record that: evidence ledger accept ${shellWord(stream_id)} --reason 'TEXT'.`,
  'completeness/listing-differs': ASK_PROVIDER,
  'completeness/count-differs': EXPORT_AGAIN,
  'anchor/malformed': ASK_AUTHORITY,
  'anchor/not-granted': ASK_AUTHORITY,
  'anchor/imprint-mismatch': ASK_PROVIDER,
  'anchor/nonce-mismatch': ASK_AUTHORITY,
  'anchor/bad-signature': ASK_AUTHORITY,
  'anchor/not-timestamping': ASK_AUTHORITY,
  'anchor/untrusted': ASK_AUTHORITY,
  'anchor/unknown-issuer':
    'If you trust this authority, get its root certificate from the authority itself and pin it with verify.timestamp_roots or --timestamp-roots.',
  'anchor/future':
    'Check the clock of this machine. If it is right, ask the operator of the service why its authority is ahead.',
  'anchor/missing-entry': EXPORT_AGAIN,
  'anchor/before-entry': ASK_PROVIDER,
  'anchor/other-stream':
    'Ask the operator of the service why the package holds checkpoints of another stream; they were not counted.',
  'anchor/certificate-expired': 'Get a new time-stamp for this digest while the old token can still be checked.',
  'agreement/count-differs': EXPORT_AGAIN,
  'agreement/head-differs': EXPORT_AGAIN,
  'agreement/package-differs': EXPORT_AGAIN,
  'agreement/vendor-verdict-differs':
    'If only seals are refuted here, check that the given keys are the right ones. Otherwise show both verdicts to the operator of the service: one of the two checks is wrong.',
  'agreement/vendor-check-failed':
    'Ask the operator of the service what its check found. If seals were not checked here, give their keys: verify.seal_keys or --seal-key ID=FILE.',
  'agreement/pdf-unread':
    'Open the PDF and compare its package, stream, count and head with the summary. It proves nothing by itself.',
  'agreement/pdf-unclear':
    'Open the PDF at these pages, and find out what each value refers to. It proves nothing by itself.',
  'agreement/other-entries':
    'Find out which of the two lists is the evidence; the contract names the one that was checked (package.entries).',
  'package/unreadable': EXPORT_AGAIN,
  'package/no-entries': EXPORT_AGAIN,
  'package/foreign': EXPORT_AGAIN,
  'contract/drift':
    'The service changed or follows another contract: run `evidence probe` against it and compare the contracts.',
  'supplement/contradicted': ASK_SERVICE,
  'supplement/missing':
    'Keep the bag and the bundle of the stream, and ask the operator of the service where this record is.',
  'supplement/no-entry': 'Ask the operator of the service why nothing was recorded when this happened.',
  'supplement/outside-bundle':
    'Look for the entry in the bundle of the period before or after. If it is in none, ask the operator of the service for it by its number.',
  'object/missing': FETCH_AGAIN,
  'object/altered': FETCH_AGAIN,
  'object/unexpected': WHO_WROTE,
  'object/unreadable': FETCH_AGAIN,
  'object/closed': 'Give this user permission to read it, and verify again; it was not checked.',
  'object/covered': 'Find out who overwrote it. The first version is the object, and it was verified.',
  'object/replaced': FETCH_AGAIN,
  'object/unlocked': 'Find out who can change locks, and lock it again: evidence extend, evidence hold.',
  'record/differs': FETCH_AGAIN,
  'verdict/differs': FETCH_AGAIN,
  'ledger/gap': FETCH_AGAIN,
  'ledger/broken-link': FETCH_AGAIN,
  'ledger/contradicts': FETCH_AGAIN,
  'ledger/missing-entry': FETCH_AGAIN,
  'history/differs': COMPARE_RUNS,
  'history/gap': 'Ask the operator of the service for these entries by number: no run of this archive has them.',
  'signature/missing': WHOSE_KEY,
  'signature/untrusted': WHOSE_KEY,
  'signature/unknown-key': WHICH_KEY,
  'signature/mismatch': WHOSE_KEY,
  'signature/differs': WHOSE_KEY,
  'stamp/refuted':
    'Check that the given roots are those of the authority; if so, find out who put this time-stamp there.',
};

const OF_BUNDLE = 'Get the bundle from the archive again, and compare its SHA-256 with the one in run.json.';

const OF_ADVICE: Record<Advice['code'], (found: Found & { advice: Advice }) => string> = {
  get_unaltered: () =>
    'Get the original bundle and verify that. This one was altered after packing, so its findings say nothing about the service.',
  export_all_time: () =>
    'Entries of other months lie in between: export the whole stream with evidence export --all-time, then run the same command again. Then ask the operator of the service when these entries were recorded.',
  export_missing: () =>
    'Export them with: evidence export --missing. It makes a revision of each month that has more entries now. Then ask the operator of the service when these entries were recorded.',
  compare_with_run: ({ from = 0, to = 0, advice: { run_id } }) =>
    `Run ${run_id} recorded that it exported ${entriesIn(from, to)}: look into its bundle, keep both, and ask the operator of the service why this bundle lacks them.`,
  compare_runs: () => COMPARE_RUNS,
  verify_run: ({ advice: { run_id } }) =>
    `Verify the whole archive with all bundles readable, and see the findings for run ${run_id}.`,
  see_run: ({ advice: { run_id } }) => `See the findings for run ${run_id}, and compare the bundles of both runs.`,
  judge_acceptance: ({ advice: { accepted_at, accepted_by } }) =>
    `Judge the reason: a restart or end of the stream was accepted on ${accepted_at} by ${accepted_by}. Later runs are not compared with earlier exports.`,
};

/** Returns the next step for a finding. */
export function nextStepOf(found: Found): string {
  const { code, advice } = found;
  if (advice !== undefined) return OF_ADVICE[advice.code]({ ...found, advice });
  const step = (OF_FINDINGS as Readonly<Record<string, Step>>)[code] ?? OF_BUNDLE;
  return typeof step === 'string' ? step : step(found);
}

/** Returns the next step for an open run; null if none is needed. */
export function nextStepOfOpenRun({ run_id, state }: Pick<OpenRun, 'run_id' | 'state'>): string | null {
  if (state !== 'begun' && state !== 'unrecorded') return null;
  return `The exporter can resume it with the same export command, which exports a revision if it cannot resume. To abandon the run: evidence runs abandon ${shellWord(run_id)} --reason WHY.`;
}

/** Replacer for `JSON.stringify` that adds the next step to each finding and open run of a `--json` document. */
export function withNextStep(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'next_step' in value || !('message' in value)) return value;
  if ('severity' in value && 'code' in value) return { ...value, next_step: nextStepOf(value as Found) };
  if ('run_id' in value && 'state' in value) return { ...value, next_step: nextStepOfOpenRun(value as OpenRun) };
  return value;
}
