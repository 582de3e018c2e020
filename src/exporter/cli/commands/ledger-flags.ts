import type { Argv } from 'yargs';
import { archiveFlags, configurationFlags, dryRunFlag, signingFlags } from '../config/flags.ts';

export function ledgerFlags(argv: Argv) {
  return argv
    .positional('action', { choices: ['accept', 'hand-over'] as const, demandOption: true, describe: 'what to record' })
    .positional('stream', {
      type: 'string',
      describe: 'of accept: the id of the stream; one that begins with - as --stream=ID',
    })
    .options({ ...configurationFlags, ...archiveFlags, ...signingFlags })
    .options({
      reason: { type: 'string', describe: 'of accept: why it was ended or began anew; kept for ever' },
      to: { type: 'string', describe: 'of hand-over: file of the new signing key' },
      'passphrase-file': { type: 'string', describe: 'of hand-over: file of the passphrase of the new key' },
      ...dryRunFlag,
    })
    .example("$0 ledger accept payments --reason 'moved to payments-eu, ticket OPS-411'", '')
    .example('$0 ledger hand-over --to signing-2027.pem', 'the key in sign.key_file hands over to a new one');
}
export type LedgerFlags = Awaited<ReturnType<typeof ledgerFlags>['argv']>;
