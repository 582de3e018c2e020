import { relative, resolve } from 'node:path';
import { EvidenceError } from '../../../core/errors.ts';
import { plural } from '../../../core/plurals.ts';
import { type OutputLine, styled } from '../../../core/terminal/printer.ts';
import type { ShareRecord } from '../../../verifier/records/hold-log.ts';
import { holdLogPrefix } from '../../../verifier/records/keys.ts';
import { MAX_LINK_SECONDS } from '../../archive/archive.ts';
import { foreseeShare, type Shared, shareRun } from '../../share/share.ts';
import type { CommandContext } from '../command.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { withArchive } from '../config/stores.ts';
import { readOperator } from '../config/tool.ts';
import { readTimestampRoots } from '../config/trust.ts';
import { requireRun } from '../output/finalized-run.ts';
import { formatBytes } from '../output/progress.ts';
import { toRoot } from '../output/trust-report.ts';
import type { FlagsOf } from './flags-of.ts';

const SECONDS = { s: 1, m: 60, h: 3600, d: 86_400 } as const;
const MAX_NAME = 200;

/** Shares a finalized run by links or as copies. Links are never printed. */
export async function runShare(flags: FlagsOf<'share'>, context: CommandContext): Promise<number> {
  const { printer, signal, environment, directory } = context;
  const config = await loadConfig(flags, environment, directory);
  const sharedWith = readName(flags.for);
  const seconds = readExpiry(flags.expires ?? '7d');
  const roots = rootsOf(config);
  return withArchive(config.archive, context, async (archive) => {
    const run = await requireRun(archive, flags.run);
    const copies = flags.out !== undefined || archive.links === null;
    if (copies && flags.expires !== undefined)
      throw new EvidenceError('usage', '--expires applies to links, and copies do not expire', {
        nextStep: 'Leave out --expires. For links, use an archive in S3 without --out.',
      });
    if (!copies && sharedWith === null)
      throw new EvidenceError('usage', 'links let anyone who has them read the evidence, and no recipient is named', {
        nextStep:
          "Name the recipient for the letter and the record: --for 'J. Smith, Example Audit'. Nothing was shared.",
      });
    const now = () => new Date();
    const folder = resolve(directory, flags.out ?? `share-${flags.run}-${now().toISOString().replaceAll(':', '-')}`);
    const place = relative(directory, folder) || '.';
    const options = { run, sharedWith, sharedBy: readOperator(), linkSeconds: copies ? null : seconds, folder, roots };
    if (flags['dry-run'] === true) {
      const { record, warnings } = await foreseeShare({ archive, now, signal }, options);
      printer.document('evidence-share-dry-run/1', { dry_run: true, ...record, folder: place, warnings });
      for (const line of foresee(record, warnings, place)) printer.result(line);
      return 0;
    }
    const shared = await shareRun({ archive, now, signal }, options);
    const { record, key, warnings } = shared;
    const letter = `${place}/letter.pdf`;
    printer.document('evidence-share/1', { ...record, run_sha256: run.sha256, folder: place, letter, key, warnings });
    for (const line of describe(shared, run.sha256, letter)) printer.result(line);
    return 0;
  });
}

/** Returns the roots that the letter lists: of the service's checkpoints, and of the stamps of runs. */
function rootsOf({ verify, sign }: Config) {
  const checkpoints = readTimestampRoots(verify.timestampRootsFile)?.map(toRoot) ?? null;
  const stamps = readTimestampRoots(sign.rootsFile, 'sign.tsa_roots')?.map(toRoot) ?? null;
  return { checkpoints, stamps };
}

/** @throws EvidenceError `usage` for a name that a letter would not show as given. */
function readName(name: string | undefined): string | null {
  if (name === undefined) return null;
  if (name.trim() === '') throw new EvidenceError('usage', '--for is empty');
  if (/[\p{Cc}\p{Zl}\p{Zp}]/u.test(name) || !name.isWellFormed())
    throw new EvidenceError('usage', `--for ${name} contains control characters`);
  if ([...name].length <= MAX_NAME) return name;
  throw new EvidenceError('usage', `--for has more than ${MAX_NAME} characters`);
}

/** Returns the lifetime of links in seconds. @throws EvidenceError `usage`. */
function readExpiry(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhd])$/.exec(text) ?? [];
  const seconds = Number(count) * (SECONDS[unit as keyof typeof SECONDS] ?? Number.NaN);
  if (!(seconds > 0))
    throw new EvidenceError('usage', `--expires ${text} is not a time`, {
      nextStep: 'Write it as 7d, 12h or 30m.',
    });
  if (seconds <= MAX_LINK_SECONDS) return seconds;
  throw new EvidenceError('usage', `--expires ${text} is longer than 7 days, the maximum for S3 links`, {
    nextStep: 'Share again when the links have expired, or write copies with --out.',
  });
}

/** Describes what is shared, with whom and how. */
function sayWhat({ run_id, shared_with, form, expires_at, objects }: ShareRecord, is: 'is' | 'would be'): string {
  const bytes = objects.reduce((sum, object) => sum + object.bytes, 0);
  const whom = shared_with === null ? '' : ` with ${shared_with}`;
  const end = expires_at === null ? '' : ` that expire at ${expires_at}`;
  return `Run ${run_id} ${is} shared${whom}: ${plural(objects.length, 'object')}, ${formatBytes(bytes)}, and the record of the share, as ${form}${end}.`;
}

function foresee(record: ShareRecord, warnings: readonly string[], folder: string): OutputLine[] {
  const what = record.form === 'links' ? 'The letter with the links' : 'The letter and the copies';
  const live =
    record.form === 'links'
      ? 'No command can revoke a link: anyone who has it can read the evidence until it expires.'
      : 'No command can revoke a copy.';
  return [
    sayWhat(record, 'would be'),
    ...warnings.map((warning) => [styled(warning, 'yellow')]),
    `${what} would go to ${folder}, and the permanent record of the share to ${holdLogPrefix(record.run_id)}.`,
    `${live} Nothing was shared, and nothing was written.`,
  ];
}

function describe({ record, key, warnings }: Shared, runSha256: string, letter: string): OutputLine[] {
  const care = record.form === 'links' ? '  (contains the links: anyone who has it can read the evidence)' : '';
  return [
    sayWhat(record, 'is'),
    ...warnings.map((warning) => [styled(warning, 'yellow')]),
    `Letter        ${letter}, and a text version beside it${care}`,
    `To compare    ${runSha256}  (SHA-256 of run.json; send it separately from the letter)`,
    `Recorded as   ${key}`,
  ];
}
