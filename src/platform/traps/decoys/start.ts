import { join } from 'node:path';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { startAwsDecoy } from './aws/start.ts';
import type { Decoy, DecoyDeps, DecoyKind, DecoySettings, StartDecoy } from './decoy.ts';
import { startKubernetesDecoy } from './kubernetes/start.ts';
import { startPostgresDecoy } from './postgres/decoy.ts';
import { startSshDecoy } from './ssh/decoy.ts';
import { startWeb } from './web/web.ts';

/** Starters by kind of decoy. A new kind is a folder and a line here. */
const KINDS: Readonly<Record<DecoyKind, StartDecoy>> = {
  web: startWeb,
  aws: startAwsDecoy,
  kubernetes: startKubernetesDecoy,
  postgres: startPostgresDecoy,
  ssh: startSshDecoy,
};

/**
 * Starts all decoys, or none.
 * @param folder that contains a folder for each decoy.
 * @throws EvidenceError `config` with the name of the decoy that cannot listen.
 */
export async function startDecoys(
  settings: readonly DecoySettings[],
  folder: string,
  deps: DecoyDeps,
): Promise<Decoy[]> {
  const started: Decoy[] = [];
  try {
    for (const each of settings) started.push(await startOne(each, join(folder, each.name), deps));
    return started;
  } catch (error) {
    for (const decoy of started) await decoy.close();
    throw error;
  }
}

async function startOne(settings: DecoySettings, folder: string, deps: DecoyDeps): Promise<Decoy> {
  try {
    return await KINDS[settings.kind](settings, folder, deps);
  } catch (cause) {
    throw new EvidenceError('config', `the decoy "${settings.name}" cannot be served: ${messageOf(cause)}`, {
      cause,
      nextStep: 'Change its listen in the settings, or end what holds the port.',
    });
  }
}
