import { existsSync } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { shellWord } from '../../../core/shell.ts';
import { ARCHIVE_KEY, splitRunAddress } from '../../../verifier/records/keys.ts';
import { BEGINNING_BYTES, isPackageBeginning } from '../../../verifier/verify/package-content.ts';
import { DEFAULT_ARCHIVE } from '../config/sections.ts';
import { formsWith, isUrl, storeOf } from '../config/stores.ts';
import type { FlagsOf } from './flags-of.ts';

/** Kinds of targets. A run is verified as part of its archive. */
export type TargetKind = 'archive' | 'bundle' | 'encrypted' | 'package';

export const NAME_ONE =
  'Name an archive, a run in it, a bundle (.zip) or an evidence package (.json), as in: evidence verify evidence-archive.';

/**
 * @param path absolute, or the address of a remote archive.
 * @param given as the user gave it.
 * @throws EvidenceError `not-found` if nothing exists there; `usage` for a target that is never opened; `config` for a
 * file that this user cannot read.
 */
export async function kindOf(path: string, given: string): Promise<TargetKind> {
  if (storeOf(given).isRemote) return 'archive';
  // A link to an object is a secret, so the message does not repeat it.
  if (isUrl(given))
    throw new EvidenceError('usage', 'the target is a symbolic link, and links are not followed', {
      nextStep: 'Verify the file that it points to.',
    });
  const found = await stat(path).catch((error: unknown) => {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw closed(given, error);
  });
  if (found === null) {
    const run = splitRunAddress(path);
    // The archive knows its runs.
    if (run !== null && existsSync(run.root)) return 'archive';
    throw new EvidenceError('not-found', `there is nothing to verify at ${given}`, { nextStep: NAME_ONE });
  }
  if (found.isDirectory()) {
    const below = join(path, DEFAULT_ARCHIVE);
    if (!existsSync(join(path, ARCHIVE_KEY)) && existsSync(join(below, ARCHIVE_KEY)))
      throw new EvidenceError('usage', `${given} is not an archive, but contains one`, {
        nextStep: `Verify it: evidence verify ${shellWord(join(given, DEFAULT_ARCHIVE))}.`,
      });
    return 'archive';
  }
  if (!found.isFile())
    throw new EvidenceError('usage', `${given} is a named pipe, a device or a socket, and was not opened`, {
      nextStep: NAME_ONE,
    });
  return kindOfFile(path, given);
}

/**
 * Determines the kind by content if that is conclusive, otherwise by name, so that a damaged bundle is still treated as
 * one.
 */
async function kindOfFile(path: string, given: string): Promise<TargetKind> {
  await using file = await open(path, 'r').catch((error: unknown) => {
    throw closed(given, error);
  });
  const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGINNING_BYTES), 0, BEGINNING_BYTES, 0);
  const beginning = buffer.toString('latin1', 0, bytesRead);
  if (/\.zip$/i.test(path) || beginning.startsWith('PK')) return 'bundle';
  if (/\.age$/i.test(path)) return 'encrypted';
  if (isPackageBeginning(buffer.subarray(0, bytesRead))) return 'package';
  throw noEvidence(given, 'it is not JSON');
}

/** Returns the error for a file that is no evidence package, which gets no verdict. */
export function noEvidence(given: string, why: string): EvidenceError {
  return new EvidenceError('usage', `${given} is not an evidence package: ${why}; nothing was verified`, {
    nextStep: `${NAME_ONE} For a package of a service with its own contract, add --contract FILE.`,
  });
}

function closed(given: string, error: unknown): EvidenceError {
  return new EvidenceError('config', `${given} cannot be read: ${messageOf(error)}`, {
    nextStep: 'Give this user permission to read it; nothing was verified.',
    cause: error,
  });
}

const NAMES: Record<TargetKind, string> = {
  archive: 'an archive',
  bundle: 'a bundle',
  encrypted: 'an encrypted bundle',
  package: 'a package',
};

const OF_ARCHIVES = 'Name the archive that contains it.';
/** Flags that only apply to some kinds of targets, with the next step. */
const LIMITED: [flag: keyof FlagsOf<'verify'> & string, kinds: TargetKind[], nextStep: string][] = [
  [
    'public-key',
    ['archive'],
    'Only runs are signed, not single bundles or packages. Verify the run: evidence verify ARCHIVE --run RUN --public-key FILE.',
  ],
  ['without', ['archive', 'bundle', 'encrypted'], 'Leave it out: a package has no requirements of its own.'],
  ['stamp-roots', ['archive'], 'Only runs are stamped. For checkpoints, use --timestamp-roots.'],
  ['identity', ['archive', 'encrypted'], 'Leave out --identity: the file is not encrypted.'],
  ['run', ['archive'], OF_ARCHIVES],
  ['from', ['archive'], OF_ARCHIVES],
  ['fast', ['archive'], OF_ARCHIVES],
  ['locked-for', ['archive'], OF_ARCHIVES],
  ['threads', ['package'], 'Leave it out: only packages are read with several threads.'],
];

/**
 * Refuses flags without an effect, because the user might believe that they were checked. @throws EvidenceError
 * `usage`.
 */
export function refuseUnused(flags: FlagsOf<'verify'>, target: string, kind: TargetKind): void {
  const isGiven = (flag: keyof FlagsOf<'verify'>) => flags[flag] !== undefined && flags[flag] !== false;
  for (const [flag, kinds, nextStep] of LIMITED)
    if (isGiven(flag) && !kinds.includes(kind))
      throw new EvidenceError('usage', `--${flag} has no effect on ${NAMES[kind]}; nothing was verified`, {
        nextStep,
      });
  if (isGiven('endpoint') && !storeOf(target).flags.includes('endpoint'))
    throw new EvidenceError('usage', '--endpoint has no effect on local files; nothing was verified', {
      nextStep: `Leave out --endpoint, or name ${formsWith('endpoint')}.`,
    });
  if (isGiven('reference') && isGiven('threads'))
    throw new EvidenceError('usage', '--reference uses one thread, so --threads has no effect; nothing was verified', {
      nextStep: 'Leave out --threads.',
    });
  if (isGiven('run') && isGiven('from'))
    throw new EvidenceError('usage', '--run and --from cannot be combined; nothing was verified', {
      nextStep: '--run verifies one run; --from verifies that run and all later ones.',
    });
}
