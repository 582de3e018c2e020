import type { Argv } from 'yargs';
import { archiveFlags, configurationFlags, dryRunFlag, signingFlags } from '../config/flags.ts';

export function ledgerFlags(argv: Argv) {
  return argv
    .positional('action', { choices: ['accept'] as const, demandOption: true, describe: 'what to record' })
    .positional('stream', { type: 'string', describe: 'the id of the stream; one that begins with - as --stream=ID' })
    .options({ ...configurationFlags, ...archiveFlags, ...signingFlags })
    .options({
      reason: { type: 'string', demandOption: true, describe: 'why it was ended or began anew; kept for ever' },
      ...dryRunFlag,
    })
    .example("$0 ledger accept payments --reason 'moved to payments-eu, ticket OPS-411'", '');
}
export type LedgerFlags = Awaited<ReturnType<typeof ledgerFlags>['argv']>;
