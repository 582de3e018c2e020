import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import process from 'node:process';
import type { CommandModule } from 'yargs';
import { EvidenceError } from '../../core/errors.ts';
import type { AuditTables } from '../audit/schema.ts';
import type { PlatformFlags } from '../config.ts';
import type { PlatformPlace } from '../setup.ts';
import { placeOptions, readPlace } from './place.ts';

export const sealKeysCommand: CommandModule<object, PlatformFlags & { out: string }> = {
  command: 'seal-keys',
  describe: 'Write the seal keys of all streams to files, for whoever is to check seals',
  builder: (args) =>
    args
      .options(placeOptions)
      .option('out', { type: 'string', demandOption: true, requiresArg: true, describe: 'Folder for the key files' }),
  async handler({ out, ...flags }) {
    const lines: string[] = [];
    await mkdir(out, { recursive: true, mode: 0o700 });
    for await (const { id, bytes } of sealKeysOf(readPlace(flags))) {
      const path = join(out, id);
      await writeKey(path, `hex:${Buffer.from(bytes).toString('hex')}\n`);
      lines.push(`    ${id}: ${JSON.stringify(resolve(path))}`);
    }
    const keys = lines.length === 0 ? '  seal_keys: {}' : ['  seal_keys:', ...lines].join('\n');
    process.stdout.write(`verify:\n${keys}\n`);
  },
};

/** The key of every stream that exists. */
async function* sealKeysOf(place: PlatformPlace) {
  const { openPlace, openSealKeys } = await import('../setup.ts');
  const database = await openPlace(place);
  const keys = await openSealKeys(place.dataDir);
  try {
    const streams = database.tables<AuditTables>().selectFrom('streams').select('stream_id');
    for (const { stream_id } of await streams.orderBy('stream_id').execute()) yield keys.reveal(stream_id);
  } finally {
    await database.close();
  }
}

/** Writes a key once; the same key again is nothing new, another one is never written over. */
async function writeKey(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if ((await readFile(path, 'utf8')) !== text)
      throw new EvidenceError('conflict', `${path} exists with another key; it was left as it is`, {
        nextStep: 'Choose another --out folder.',
      });
  }
}
