import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import process from 'node:process';
import type { Argv, CommandModule } from 'yargs';
import { EvidenceError } from '../../core/errors.ts';
import { formatTable } from '../../core/terminal/table.ts';
import type { PlatformFlags } from '../config.ts';
import { inPlace, placeOptions } from './place.ts';

type RotateFlags = PlatformFlags & { stream?: string[] | undefined; all: boolean };

const writeCommand: CommandModule<object, PlatformFlags & { out: string }> = {
  command: 'write',
  describe: 'Write the seal keys of all streams to files, for whoever is to check seals',
  builder: (args) =>
    args
      .options(placeOptions)
      .option('out', { type: 'string', demandOption: true, requiresArg: true, describe: 'Folder for the key files' }),
  async handler({ out, ...flags }) {
    const keys = await sealKeysOf(flags);
    await mkdir(out, { recursive: true, mode: 0o700 });
    const lines: string[] = [];
    for (const { id, bytes } of keys) {
      const path = join(out, id);
      await writeKey(path, `hex:${Buffer.from(bytes).toString('hex')}\n`);
      lines.push(`    ${id}: ${JSON.stringify(resolve(path))}`);
    }
    const said = lines.length === 0 ? '  seal_keys: {}' : ['  seal_keys:', ...lines].join('\n');
    process.stdout.write(`verify:\n${said}\n`);
  },
};

const COLUMNS = ['stream', 'last entry under the old key', 'old key', 'new key'].map((title) => ({ title }));

const rotateCommand: CommandModule<object, RotateFlags> = {
  command: 'rotate',
  describe: 'Seal what comes next under another key: who has the old one can seal none of it',
  builder: (args) =>
    args
      .options(placeOptions)
      .option('stream', {
        type: 'string',
        array: true,
        requiresArg: true,
        describe: 'The id of a stream; once for each of them',
      })
      .option('all', { type: 'boolean', default: false, describe: 'Every stream that there is' }),
  async handler({ stream, all, ...flags }) {
    if ((stream === undefined) !== all) throw new EvidenceError('usage', 'name streams with --stream, or give --all');
    const { rotateSealKey, streamEpochs } = await import('../audit/rotation.ts');
    const { RowSeals } = await import('../audit/row-seals.ts');
    await inPlace(flags, async ({ database, sealKeys, clock }) => {
      const means = { keys: sealKeys, seals: new RowSeals(sealKeys.ofRows()), clock };
      const streams = stream ?? (await streamEpochs(database)).map(({ stream_id }) => stream_id);
      const rows: string[][] = [];
      for (const streamId of streams) {
        const { from, to, sequence } = await rotateSealKey(database, means, streamId);
        rows.push([streamId, `${sequence}`, from, to]);
      }
      process.stdout.write(`${formatTable(COLUMNS, rows)}\n`);
    });
  },
};

/** `evidence-platform seal-keys`: the keys that seal entries, by whoever has the data folder in their hands. */
export const sealKeysCommand: CommandModule = {
  command: 'seal-keys',
  describe: 'Write or rotate the keys that seal entries',
  builder: (args: Argv) =>
    args
      .command(writeCommand)
      .command(rotateCommand)
      .demandCommand(1, 'Say what to do with seal keys: write or rotate.'),
  // yargs wants a handler; `demandCommand` never lets it be reached.
  handler: () => undefined,
};

/** The keys of every stream that exists, of all the epochs that it had. */
async function sealKeysOf(flags: PlatformFlags): Promise<{ id: string; bytes: Uint8Array }[]> {
  const { streamEpochs } = await import('../audit/rotation.ts');
  return inPlace(flags, async ({ database, sealKeys }) =>
    (await streamEpochs(database)).flatMap(({ stream_id, seal_epoch }) =>
      Array.from({ length: seal_epoch }, (_, before) => sealKeys.reveal(stream_id, before + 1)),
    ),
  );
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
