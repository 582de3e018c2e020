import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EvidenceError } from '../../core/errors.ts';
import type { Reader } from '../database/database.ts';
import { streamEpochs } from './rotation.ts';
import type { DerivedSealKeys } from './seal-keys.ts';

/**
 * Writes the keys of every stream that exists, of all the epochs that it had, into a folder: for whoever is to check seals.
 * @returns the file of each, by the id that entries name it by.
 * @throws EvidenceError `config` for a file that has another key.
 */
export async function writeSealKeys(
  { database, sealKeys }: { database: Reader; sealKeys: DerivedSealKeys },
  folder: string,
): Promise<Map<string, string>> {
  const keys = (await streamEpochs(database)).flatMap(({ stream_id, seal_epoch }) =>
    Array.from({ length: seal_epoch }, (_, before) => sealKeys.reveal(stream_id, before + 1)),
  );
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const files = new Map<string, string>();
  for (const { id, bytes } of keys) {
    const path = join(folder, id);
    await writeKey(path, `hex:${Buffer.from(bytes).toString('hex')}\n`);
    files.set(id, path);
  }
  return files;
}

/** Writes a key once; the same key again is nothing new, another one is never written over. */
async function writeKey(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if ((await readFile(path, 'utf8')) !== text)
      throw new EvidenceError('config', `${path} exists with another key; it was left as it is`, {
        nextStep: 'Choose another --out folder.',
      });
  }
}
