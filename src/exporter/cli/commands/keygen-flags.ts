import type { Argv } from 'yargs';

export function keygenFlags(argv: Argv) {
  return argv
    .options({
      out: { type: 'string', demandOption: true, describe: 'file of the private key; the public one gets .pub' },
      type: { choices: ['ed25519', 'ecdsa-p256'] as const, default: 'ed25519' as const, describe: 'kind of key' },
    })
    .example('$0 keygen --out signing.pem', 'signing.pem and signing.pem.pub');
}
export type KeygenFlags = Awaited<ReturnType<typeof keygenFlags>['argv']>;
