import { z } from 'zod';
import { grouped, plural } from '../../../core/plurals.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import { latestOf } from '../../../verifier/records/coverage.ts';
import type { ShareRecord } from '../../../verifier/records/hold-log.ts';
import { runRecordKey } from '../../../verifier/records/keys.ts';
import type { RunRecord } from '../../../verifier/records/record.ts';
import { type OutcomeView, toOutcome } from './outcome.ts';
import { fill, nameOf } from './sentences.ts';
import type { Texts } from './texts.ts';

const text = z.string().min(1);

/** Schema of `templates/report/letter.yaml`. */
export const letterTextsSchema = z.strictObject({
  title: text,
  labels: z.strictObject({
    shared_by: text,
    shared_with: text,
    shared_at: text,
    run: text,
    period: text,
    files: text,
    until: text,
    digest: text,
  }),
  digest: text,
  links: z.strictObject({ until: text }),
  copies: text,
  signed: text,
  unsigned: text,
  unstamped: text,
  files: text,
  clickable: text,
  verify: z.strictObject({
    introduction: text,
    anchored: text,
    root: text,
    no_root: text,
    steps: z.array(
      z.strictObject({
        /** Condition of the step; omitted if every letter has it. */
        when: z.enum(['links', 'chain', 'signed', 'stamped', 'encrypted']).optional(),
        title: text,
        text,
        command: text,
      }),
    ),
  }),
});
export type LetterTexts = z.infer<typeof letterTextsSchema>;

/** File that was shared. */
export interface LetterFile {
  /** Path in the recipient's folder. */
  path: string;
  bytes: number;
  sha256: string;
  /** Link to the file; null for a copy. */
  url: string | null;
}

/** Data that a letter is made from. */
export interface LetterSubject {
  run: RunRecord;
  share: ShareRecord;
  runSha256: string;
  /** Ledger entry of the run. */
  entry: { key: string; number: number };
  /** Signature of the run; null for an unsigned run. */
  signature: { envelope: string; keyId: string; isEcdsa: boolean } | null;
  /** Key of the run's first time-stamp; null if there is none. */
  stamp: string | null;
  /** Roots that the sharing operator has pinned for checkpoints and for runs; null if none are pinned. */
  roots: { checkpoints: readonly LetterRoot[] | null; stamps: readonly LetterRoot[] | null };
  files: readonly LetterFile[];
}

/** Root certificate, described so that a reader can obtain the same one. */
interface LetterRoot {
  subject: string;
  /** Digest of the certificate in DER, hex. */
  sha256: string;
}

/** Content of a letter, independent of its format. */
export interface LetterView {
  /** RFC 3339 time at which the run was shared. */
  date: string;
  runId: string;
  title: string;
  organisation: string | null;
  outcome: OutcomeView;
  facts: { label: string; lines: string[]; form: 'text' | 'mono' }[];
  digest: { label: string; value: string; text: string };
  remarks: string[];
  files: {
    introduction: string;
    /** Hint that file names are links; null for copies. */
    clickable: string | null;
    list: readonly LetterFile[];
  };
  verify: { introduction: string; steps: { title: string; text: string; command: string }[] };
}

/** Pure: the same subject and texts yield the same letter. */
export function toLetterView(subject: LetterSubject, texts: LetterTexts, reportTexts: Texts): LetterView {
  const { run, share, runSha256, files } = subject;
  return {
    date: share.shared_at,
    runId: run.run_id,
    title: texts.title,
    organisation: run.report.organisation,
    outcome: toOutcome(run, 'run', reportTexts),
    facts: toFacts(subject, texts),
    digest: { label: texts.labels.digest, value: runSha256, text: texts.digest },
    remarks: toRemarks(subject, texts),
    files: { introduction: texts.files, clickable: share.form === 'links' ? texts.clickable : null, list: files },
    verify: toSteps(subject, texts),
  };
}

function toFacts({ run, share, files }: LetterSubject, { labels, links, copies }: LetterTexts): LetterView['facts'] {
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const fact = (label: string, line: string, form: 'text' | 'mono' = 'text') => ({ label, lines: [line], form });
  return [
    fact(labels.shared_by, sharerOf(run, share)),
    ...(share.shared_with === null ? [] : [fact(labels.shared_with, share.shared_with)]),
    fact(labels.shared_at, `${share.shared_at} (UTC)`),
    fact(labels.run, run.run_id, 'mono'),
    fact(labels.period, describePeriod(run.period, run.period.to === null ? latestOf(run) : null)),
    fact(
      labels.files,
      `${plural(files.length, 'file')}, ${grouped(bytes)} bytes${share.form === 'links' ? '' : `. ${copies}`}`,
    ),
    ...(share.expires_at === null ? [] : [fact(labels.until, fill(links.until, { until: share.expires_at }))]),
  ];
}

/** Shows a configured preparer before the account that ran the program. */
function sharerOf({ report }: RunRecord, { shared_by }: ShareRecord): string {
  return report.prepared_by === null ? nameOf(shared_by) : `${report.prepared_by} (${nameOf(shared_by)})`;
}

function toRemarks({ signature, stamp }: LetterSubject, texts: LetterTexts): string[] {
  return [
    signature === null ? texts.unsigned : fill(texts.signed, { key: signature.keyId }),
    ...(stamp === null ? [texts.unstamped] : []),
  ];
}

/** Lists the authorities with proved time-stamps on the service's checkpoints. */
function authoritiesOf({ streams }: RunRecord): string[] {
  return [...new Set(streams.flatMap(({ claims }) => claims.anchor.authorities ?? []))].sort();
}

function sayRoots(roots: readonly LetterRoot[] | null, { root, no_root: none }: LetterTexts['verify']): string {
  if (roots === null || roots.length === 0) return none;
  return roots.map(({ subject, sha256 }) => fill(root, { subject, digest: sha256 })).join('; ');
}

/** Tells the reader which authorities to get the checkpoint roots from; empty if no anchor was proved. */
function sayCheckpoints(
  authorities: readonly string[],
  roots: readonly LetterRoot[] | null,
  texts: LetterTexts['verify'],
): string {
  if (authorities.length === 0) return '';
  return fill(texts.anchored, { authorities: authorities.join(', '), roots: sayRoots(roots, texts) });
}

/** Returns the flags of the last verification step, for files that the folder does not contain. */
function flagsOf({ run, signature, stamp }: LetterSubject, authorities: readonly string[]): string[] {
  const isEncrypted = run.streams.some(({ bundle }) => bundle.encrypted !== undefined);
  return [
    ...(signature === null ? [] : ['--public-key PUBLIC_KEY']),
    ...(stamp === null ? [] : ['--stamp-roots STAMP_ROOTS']),
    ...(authorities.length === 0 ? [] : ['--timestamp-roots CHECKPOINT_ROOTS']),
    ...(isEncrypted ? ['--identity IDENTITY'] : []),
  ];
}

function toSteps(subject: LetterSubject, { verify }: LetterTexts): LetterView['verify'] {
  const { run, share, entry, signature, stamp, roots } = subject;
  const authorities = authoritiesOf(run);
  const holds = {
    links: share.form === 'links',
    chain: entry.number > 1,
    signed: signature !== null,
    stamped: stamp !== null,
    encrypted: run.streams.some(({ bundle }) => bundle.encrypted !== undefined),
  };
  const values = {
    run: run.run_id,
    record: runRecordKey(run.run_id),
    number: entry.number,
    entry: entry.key,
    envelope: signature?.envelope ?? '',
    // Ed25519 includes its own digest algorithm, so openssl takes no digest option.
    algorithm: signature?.isEcdsa === true ? ' -digest sha256' : '',
    stamp: stamp ?? '',
    tool: `${run.tool.name} ${run.tool.version}`,
    key: signature?.keyId ?? '',
    authority: run.timestamp_authority ?? '',
    roots: sayRoots(roots.stamps, verify),
    trust: flagsOf(subject, authorities)
      .map((flag) => ` ${flag}`)
      .join(''),
  };
  const checkpoints = sayCheckpoints(authorities, roots.checkpoints, verify);
  const steps = verify.steps.filter(({ when }) => when === undefined || holds[when]);
  return {
    introduction: verify.introduction,
    steps: steps.map(({ title, text: words, command }) => ({
      title,
      text: fill(words, { ...values, checkpoints }).trim(),
      command: fill(command, values),
    })),
  };
}
