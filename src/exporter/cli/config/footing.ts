import type { CommandContext } from '../command.ts';
import type { Config } from './config.ts';
import { readControls } from './controls.ts';
import { openSigningKey, openStamping } from './signing.ts';
import { openRecipients, readPublicKeys, readSealKeys, readTimestampRoots } from './trust.ts';
import { checkWorkDirectory } from './work-directory.ts';

type Load = (config: Config, context: CommandContext) => unknown;

/**
 * Loaders for everything that an export needs besides archive and service. Export, dry run and doctor use the same
 * loaders, so that none accepts what another refuses.
 */
export const LOADERS = {
  workDirectory: ({ workDirectory }) => checkWorkDirectory(workDirectory),
  sealKeys: ({ verify }: Config) => readSealKeys(verify.sealKeyFiles),
  roots: ({ verify }: Config) => readTimestampRoots(verify.timestampRootsFile),
  publicKeys: ({ verify }: Config) => readPublicKeys(verify.publicKeyFiles),
  controls: ({ report }: Config) => readControls(report.controls),
  recipients: ({ archive }: Config) => openRecipients(archive.encryptTo),
  signingKey: openSigningKey,
  // Last, because it is the only part that has to be closed.
  stamping: openStamping,
} satisfies Record<string, Load>;

export type FootingPart = keyof typeof LOADERS;
export type Footing = { [Name in FootingPart]: Awaited<ReturnType<(typeof LOADERS)[Name]>> };

/** @throws EvidenceError `config` for the first part that cannot be loaded. */
export async function withFooting<T>(
  config: Config,
  context: CommandContext,
  use: (footing: Footing) => Promise<T>,
): Promise<T> {
  const loaded: [string, unknown][] = [];
  for (const [name, load] of Object.entries<Load>(LOADERS)) loaded.push([name, await load(config, context)]);
  const footing = Object.fromEntries(loaded) as Footing;
  try {
    return await use(footing);
  } finally {
    await footing.stamping?.authority.close();
  }
}
