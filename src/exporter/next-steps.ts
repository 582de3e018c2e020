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
  'Have the stream exported again, with --revise where the run is finalized; if it stays, ask the operator of the service.';

const ASK_SERVICE =
  'Keep the bag and the bundle of the stream, and ask the operator of the service which of the two is true.';

const FETCH_AGAIN =
  'Keep the output of `evidence verify --json`, touch nothing, and find out who can write to the store. A copy made elsewhere, or an earlier version of the object, may have what was archived.';
const WHO_WROTE = 'Find out who put it there. It is no evidence, and `evidence` did not store it.';
const WHOSE_KEY =
  'Get the public key from those who sign, not from the archive, and find out who wrote what it does not vouch for.';
const WHICH_KEY =
  'Ask those who sign whether this key is theirs. If it is, give it too: --public-key. A key that hands over to the next one with `evidence ledger hand-over` needs none of this.';

const COMPARE_RUNS =
  'Compare the bundles of both runs: what the service says happened has changed, or one of them was altered.';

type Step = string | ((found: Found) => string);

const OF_FINDINGS: Record<
  StreamFindingCode | SupplementFindingCode | Exclude<ObjectFindingCode, `bundle/${string}`>,
  Step
> = {
  'order/gap': `${ASK_PROVIDER} Ask for the missing entries by number. If its clock was set back, they may be dated outside of the period: an export of all time would have them.`,
  'order/broken-link': ASK_PROVIDER,
  'order/duplicate': EXPORT_AGAIN,
  'order/fork': `${ASK_PROVIDER} Ask which of the two entries is the true one.`,
  'order/reordered': EXPORT_AGAIN,
  'order/foreign-entry': ASK_PROVIDER,
  'order/genesis': ASK_PROVIDER,
  'order/clock-backwards': 'Ask whether the clock of the service was set back at that time.',
  'secret/in-evidence':
    'Renew the API key, and ask the operator of the service why it records keys: whoever reads the evidence can use this one. To archive the evidence nevertheless, set verify.accept_secrets: true.',
  'secret/accepted': 'Renew the API key, if that was not done yet: whoever reads the evidence can use it.',
  'content/mismatch': `${ASK_PROVIDER} Compare the entry with an earlier export or another source.`,
  'content/ambiguous-json': ASK_PROVIDER,
  'content/inexact-number':
    'Ask the operator of the service to send such numbers as text, or to make digests over the text as it is sent.',
  'seal/malformed': ASK_PROVIDER,
  'seal/missing': `${ASK_PROVIDER} Who has no key can take seals away: compare these entries with an earlier export.`,
  'seal/mismatch':
    'Check that the key given for this key id is the right one; if it is, ask the operator of the service.',
  'seal/unknown-key':
    'Get the key of this id from the operator of the service, and give it with verify.seal_keys or --seal-key.',
  'continuity/rewritten':
    'Compare this bundle with the one of the earlier run: what the service says happened has changed.',
  'continuity/truncated':
    'Compare this bundle with the one of the earlier run: entries that were exported then are gone.',
  'continuity/gap': `${ASK_PROVIDER} Ask for the missing entries by number; none of the runs that border on them has them.`,
  'continuity/unknown-start':
    'Where no run has what came before, have the earlier period exported too, or all time once.',
  'continuity/grown':
    'Ask the operator of the service when these entries were recorded. That the period had ended goes by the service where it said what time it was, else by the clock of who exported (data/transfer-log.json has both).',
  'continuity/unfetched':
    'Run the same command again. If the service still does not list these entries, ask its operator which period they belong to.',
  'continuity/accepted': 'Judge the reason. Earlier runs keep what they exported: compare with their bundles.',
  'continuity/accepted-missing': 'Judge the reason. The earlier run keeps what it exported: look into its bundle.',
  'continuity/stream-vanished': ({ stream_id = '' }) =>
    `Ask the operator of the service where the stream went; if it was ended on purpose, have that recorded with: evidence ledger accept ${shellWord(stream_id)} --reason 'TEXT'.`,
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
    'Ask the operator of the service why the package holds checkpoints of another stream; they were not counted as its own.',
  'anchor/certificate-expired': 'Have this digest time-stamped anew while the old token can still be checked.',
  'agreement/count-differs': EXPORT_AGAIN,
  'agreement/head-differs': EXPORT_AGAIN,
  'agreement/package-differs': EXPORT_AGAIN,
  'agreement/vendor-verdict-differs':
    'Where only seals are refuted here, check first that the keys given are the right ones. Else show both verdicts to the operator of the service: one of the two checks is wrong.',
  'agreement/vendor-check-failed':
    'Ask the operator of the service what its check found. Where seals were not checked here, give their keys: verify.seal_keys or --seal-key ID=FILE.',
  'agreement/pdf-unread':
    'Open the PDF and compare its package, stream, count and head with the summary. It proves nothing by itself.',
  'agreement/pdf-unclear':
    'Open the PDF at these pages, and find out of what each value is. It proves nothing by itself.',
  'agreement/other-entries':
    'Find out which of the two lists is the evidence: the contract names the one that was checked (package.entries).',
  'package/unreadable': EXPORT_AGAIN,
  'package/no-entries': EXPORT_AGAIN,
  'package/foreign': EXPORT_AGAIN,
  'contract/drift':
    'The service changed, or speaks another contract: have `evidence probe` run against it, and compare what it finds.',
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
  'object/closed': 'Give this user the right to read it, and verify again: nothing is said of it.',
  'object/covered': 'Find out who stored something over it. The first version is the object, and was verified.',
  'object/replaced': FETCH_AGAIN,
  'object/unlocked': 'Find out who can change locks, and have it locked again: evidence extend, evidence hold.',
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
    'Check that the roots given are those of the authority; if they are, find out who put this time-stamp there.',
};

const OF_BUNDLE = 'Get the bundle from the archive again, and compare its SHA-256 with the one in run.json.';

const OF_ADVICE: Record<Advice['code'], (found: Found & { advice: Advice }) => string> = {
  get_unaltered: () =>
    'Get the bundle as it was packed, and verify that: this one was altered since, so nothing here is to be laid to the service.',
  export_all_time: () =>
    'Entries of other months lie between: export the whole stream with evidence export --all-time, then the same command again. Then ask the operator of the service when these entries were recorded.',
  export_missing: () =>
    'Export them with: evidence export --missing. It makes a revision of each month that has more entries now. Then ask the operator of the service when these entries were recorded.',
  compare_with_run: ({ from = 0, to = 0, advice: { run_id } }) =>
    `Run ${run_id} recorded that it exported ${entriesIn(from, to)}: look into its bundle, keep both, and ask the operator of the service why this one lacks what that one has.`,
  compare_runs: () => COMPARE_RUNS,
  verify_run: ({ advice: { run_id } }) =>
    `Verify the whole archive with all bundles readable, and see what is said of run ${run_id}.`,
  see_run: ({ advice: { run_id } }) => `See what is said of run ${run_id}, and compare the bundles of both runs.`,
  judge_acceptance: ({ advice: { accepted_at, accepted_by } }) =>
    `A restart or an end of the stream was accepted since, on ${accepted_at} by ${accepted_by}: judge the reason. Runs since then are not compared with what was exported before.`,
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
  return `Whoever exports goes on with it by the same export command, which exports a revision where it cannot; if nobody will, they record that with: evidence runs abandon ${shellWord(run_id)} --reason WHY.`;
}

/** Replacer for `JSON.stringify` that adds the next step to each finding and open run of a `--json` document. */
export function withNextStep(_name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || 'next_step' in value || !('message' in value)) return value;
  if ('severity' in value && 'code' in value) return { ...value, next_step: nextStepOf(value as Found) };
  if ('run_id' in value && 'state' in value) return { ...value, next_step: nextStepOfOpenRun(value as OpenRun) };
  return value;
}
