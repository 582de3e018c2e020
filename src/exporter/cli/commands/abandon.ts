import { EvidenceError } from '../../../core/errors.ts';
import { abandonRun, foreseeAbandonment } from '../../ledger/abandon.ts';
import type { CommandContext } from '../command.ts';
import { loadConfig } from '../config/config.ts';
import { openSigningKey } from '../config/signing.ts';
import { withArchive } from '../config/stores.ts';
import { readOperator } from '../config/tool.ts';
import { readPublicKeys } from '../config/trust.ts';
import type { FlagsOf } from './flags-of.ts';

/** Records permanently that a run is abandoned. */
export async function runAbandon(flags: FlagsOf<'runs'>, context: CommandContext): Promise<number> {
  const { printer, directory, environment } = context;
  const { run: runId, reason = '' } = flags;
  if (runId === undefined)
    throw new EvidenceError('usage', 'the run is missing', {
      nextStep: 'Name it: evidence runs abandon RUN --reason WHY. List the open runs: evidence runs.',
    });
  if (reason.trim() === '')
    throw new EvidenceError(
      'usage',
      '--reason is missing: the reason is kept forever, and every verification shows it',
    );
  const config = await loadConfig(flags, environment, directory);
  const signingKey = openSigningKey(config, context);
  const publicKeys = readPublicKeys(config.verify.publicKeyFiles);
  return withArchive(config.archive, context, async (archive) => {
    const abandoned_at = new Date().toISOString();
    const abandonment = { run_id: runId, reason, abandoned_by: readOperator(), abandoned_at };
    const trust = { signingKey, publicKeys, beginSigning: flags['begin-signing'] === true };
    if (flags['dry-run'] === true) {
      const ledgerKey = await foreseeAbandonment(archive, abandonment, trust);
      printer.document('evidence-runs-abandon-dry-run/1', { dry_run: true, abandonment, ledger_key: ledgerKey });
      printer.result(`Would write the ledger entry ${ledgerKey}, which no command can undo. Nothing was written.`);
      return 0;
    }
    await abandonRun(archive, abandonment, trust);
    printer.document('evidence-runs-abandon/1', abandonment);
    printer.result(`Recorded: run ${runId} is abandoned. Its files stay but are not evidence; verify lists them.`);
    printer.result('Running the same export command exports its period as a revision.');
    return 0;
  });
}
