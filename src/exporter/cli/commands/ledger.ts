import { EvidenceError } from '../../../core/errors.ts';
import { slugOf } from '../../../verifier/bundle/layout.ts';
import { acceptRestart, foreseeRestart } from '../../../verifier/ledger/restart.ts';
import { ACCEPTANCES_PREFIX } from '../../../verifier/records/keys.ts';
import type { CommandContext } from '../command.ts';
import { withArchive } from '../config/archives.ts';
import { loadConfig } from '../config/config.ts';
import { openSigningKey } from '../config/signing.ts';
import { readOperator } from '../config/tool.ts';
import { readPublicKeys } from '../config/trust.ts';
import type { LedgerFlags } from './ledger-flags.ts';

/** Records for ever why a stream was ended or began anew. */
export async function runLedger(flags: LedgerFlags, context: CommandContext): Promise<number> {
  const { printer, directory, environment } = context;
  const { stream } = flags;
  if (stream === undefined)
    throw new EvidenceError('usage', 'the stream is missing', {
      nextStep: 'Name it: evidence ledger accept STREAM --reason WHY; one whose id begins with - as --stream=ID.',
    });
  const config = await loadConfig(flags, environment, directory);
  if (flags.reason.trim() === '') throw new EvidenceError('usage', '--reason says nothing');
  const signingKey = openSigningKey(config, context);
  const publicKeys = readPublicKeys(config.verify.publicKeyFiles);
  return withArchive(config.archive, context, async (archive) => {
    const wish = {
      streamId: stream,
      slug: slugOf(stream),
      reason: flags.reason,
      acceptedBy: readOperator(),
      acceptedAt: new Date(),
    };
    const trust = { signingKey, publicKeys, beginSigning: flags['begin-signing'] === true };
    if (flags['dry-run'] === true) return foresee(await foreseeRestart(archive, wish, trust), context);
    const acceptance = await acceptRestart(archive, wish, trust);
    printer.document('evidence-ledger/1', acceptance);
    const { sequence, run_id } = acceptance.head;
    printer.result(
      `Recorded: ${stream} is no longer held against entry ${sequence}, its head in run ${run_id}. Every later run shows this and the reason.`,
    );
    return 0;
  });
}

function foresee(
  { acceptance, ledger_key }: Awaited<ReturnType<typeof foreseeRestart>>,
  { printer }: CommandContext,
): number {
  const { stream_id, head } = acceptance;
  printer.document('evidence-ledger-dry-run/1', { dry_run: true, acceptance, ledger_key });
  for (const line of [
    `${stream_id} would no longer be held against entry ${head.sequence}, its head in run ${head.run_id}.`,
    `Would be written: a record of that and its reason under ${ACCEPTANCES_PREFIX}, and the ledger entry ${ledger_key}.`,
    'No command undoes that: every later run shows the reason. Nothing was written.',
  ])
    printer.result(line);
  return 0;
}
