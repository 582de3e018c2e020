import { EvidenceError } from '../../../core/errors.ts';
import { slugOf } from '../../../verifier/bundle/layout.ts';
import { ACCEPTANCES_PREFIX } from '../../../verifier/records/keys.ts';
import type { Acceptance } from '../../../verifier/records/record.ts';
import type { SigningKey } from '../../../verifier/signature/key.ts';
import type { Archive } from '../../archive/archive.ts';
import { foreseeHandOver, type HandOver, handOver } from '../../ledger/hand-over.ts';
import { acceptRestart, foreseeRestart } from '../../ledger/restart.ts';
import type { LedgerTrust } from '../../ledger/trust.ts';
import type { CommandContext } from '../command.ts';
import { loadConfig } from '../config/config.ts';
import { openSigningKey, openSuccessorKey } from '../config/signing.ts';
import { withArchive } from '../config/stores.ts';
import { readOperator } from '../config/tool.ts';
import { readPublicKeys } from '../config/trust.ts';
import type { FlagsOf } from './flags-of.ts';

/** Records something permanent in the ledger: an accepted restart of a stream, or a new signing key. */
export async function runLedger(flags: FlagsOf<'ledger'>, context: CommandContext): Promise<number> {
  const { directory, environment } = context;
  const work = flags.action === 'accept' ? toAcceptance(flags, context) : toHandOver(flags, context);
  const config = await loadConfig(flags, environment, directory);
  const trust = {
    signingKey: openSigningKey(config, context),
    publicKeys: readPublicKeys(config.verify.publicKeyFiles),
    beginSigning: flags['begin-signing'] === true,
  };
  return withArchive(config.archive, context, (archive) => work(archive, trust));
}

type Work = (archive: Archive, trust: LedgerTrust) => Promise<number>;

function toAcceptance(flags: FlagsOf<'ledger'>, context: CommandContext): Work {
  const { stream, reason } = flags;
  const { printer } = context;
  if (stream === undefined)
    throw new EvidenceError('usage', 'the stream is missing', {
      nextStep: 'Name it: evidence ledger accept STREAM --reason WHY. If its id starts with -, write --stream=ID.',
    });
  if (reason === undefined || reason.trim() === '')
    throw new EvidenceError('usage', reason === undefined ? 'the reason is missing' : '--reason says nothing', {
      nextStep: 'Explain why the stream ended or restarted: evidence ledger accept STREAM --reason WHY.',
    });
  return async (archive, trust) => {
    const options = {
      streamId: stream,
      slug: slugOf(stream),
      reason,
      acceptedBy: readOperator(),
      acceptedAt: new Date(),
    };
    if (flags['dry-run'] === true) return foresee(await foreseeRestart(archive, options, trust), context);
    const acceptance = await acceptRestart(archive, options, trust);
    printer.document('evidence-ledger/1', acceptance);
    printer.result(`Recorded: ${describeAcceptance(acceptance)} Every later run shows it with the reason.`);
    return 0;
  };
}

function foresee(
  { acceptance, ledger_key }: Awaited<ReturnType<typeof foreseeRestart>>,
  { printer }: CommandContext,
): number {
  printer.document('evidence-ledger-dry-run/1', { dry_run: true, acceptance, ledger_key });
  for (const line of [
    `Would record: ${describeAcceptance(acceptance)}`,
    `Would write a record with the reason under ${ACCEPTANCES_PREFIX}, and the ledger entry ${ledger_key}.`,
    'No command can undo this: every later run shows the reason. Nothing was written.',
  ])
    printer.result(line);
  return 0;
}

function describeAcceptance({ stream_id, head, contradiction }: Acceptance): string {
  const { run_id, finding, seen } = contradiction;
  const next = seen === null ? '' : ` Later runs are compared with run ${run_id}.`;
  return `${finding} of run ${run_id} is accepted; ${stream_id} is no longer compared with entry ${head.sequence}, its head in run ${head.run_id}.${next}`;
}

function toHandOver(flags: FlagsOf<'ledger'>, context: CommandContext): Work {
  const { to } = flags;
  if (to === undefined)
    throw new EvidenceError('usage', 'the new signing key is missing', {
      nextStep: 'Name its file: evidence ledger hand-over --to FILE. To make a key: evidence keygen --out FILE.',
    });
  const successor = openSuccessorKey(to, flags['passphrase-file'] ?? null, context);
  return (archive, trust) =>
    recordHandOver(archive, { successor, file: to, dryRun: flags['dry-run'] === true }, trust, context);
}

async function recordHandOver(
  archive: Archive,
  { successor, file, dryRun }: { successor: SigningKey; file: string; dryRun: boolean },
  trust: LedgerTrust,
  { printer }: CommandContext,
): Promise<number> {
  if (dryRun) {
    const foreseen = await foreseeHandOver(archive, successor, new Date(), trust);
    printer.document('evidence-ledger-dry-run/1', { dry_run: true, ...foreseen });
    printer.result(`${describe(foreseen.hand_over)} would be recorded in ${foreseen.ledger_key}, signed by both keys.`);
    printer.result('No command can undo this: the old key signs nothing afterwards. Nothing was written.');
    return 0;
  }
  const record = await handOver(archive, successor, new Date(), trust);
  printer.document('evidence-ledger/1', record);
  printer.result(
    `Recorded: ${describe(record)}. Both keys signed it, so either public key verifies the whole archive.`,
  );
  printer.result(`Next: name ${file} in sign.key_file. Exports with the old key are now refused.`);
  return 0;
}

function describe({ from, to }: HandOver): string {
  return `the hand-over of the signing key ${from} to ${to}`;
}
