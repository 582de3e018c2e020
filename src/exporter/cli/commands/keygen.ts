import { generateKeyPairSync } from 'node:crypto';
import { open, unlink } from 'node:fs/promises';
import { resolve } from 'node:path';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { shellWord } from '../../../core/shell.ts';
import { toPem } from '../../../verifier/signature/key.ts';
import { readSigningKey } from '../../ledger/signing-key.ts';
import type { CommandContext } from '../command.ts';
import type { FlagsOf } from './flags-of.ts';

/** Generates a key pair: the private key readable by this user only, and the public key next to it. */
export async function runKeygen(flags: FlagsOf<'keygen'>, { printer, directory }: CommandContext): Promise<number> {
  const file = resolve(directory, flags.out);
  const publicFile = `${file}.pub`;
  const pem = generate(flags.type);
  const key = readSigningKey(pem, null, flags.out);
  await create(publicFile, toPem(key), 0o644);
  try {
    await create(file, pem, 0o600);
  } catch (error) {
    // Removes the public key, which would block the next attempt.
    await unlink(publicFile);
    throw error;
  }
  printer.document('evidence-keygen/1', {
    key_id: key.id,
    type: flags.type,
    private_key: flags.out,
    public_key: `${flags.out}.pub`,
  });
  printer.result(`Key id        ${key.id}`);
  printer.result(`Private key   ${flags.out}  (for sign.key_file; keep it secret, and keep a copy in a safe place)`);
  printer.result(
    `Public key    ${flags.out}.pub  (for auditors: evidence verify ARCHIVE --public-key ${shellWord(`${flags.out}.pub`)})`,
  );
  return 0;
}

function generate(type: FlagsOf<'keygen'>['type']): string {
  const { privateKey } =
    type === 'ed25519' ? generateKeyPairSync('ed25519') : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

/** Creates a file completely or not at all; never overwrites. */
async function create(path: string, text: string, mode: number): Promise<void> {
  await using handle = await open(path, 'wx', mode).catch((error: unknown) => {
    throw toError(path, error);
  });
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await unlink(path);
    throw toError(path, error);
  }
}

function toError(path: string, error: unknown): EvidenceError {
  if ((error as NodeJS.ErrnoException).code === 'EEXIST')
    return new EvidenceError('usage', `${path} exists, and keys are never overwritten`, {
      nextStep: 'Name another file with --out.',
    });
  return new EvidenceError('usage', `${path} cannot be written: ${messageOf(error)}`, {
    nextStep: 'With --out, name a file in an existing folder that this user may write to.',
    cause: error,
  });
}
