import { resolve } from 'node:path';
import process from 'node:process';
import { EvidenceError } from '../../core/errors.ts';
import { formatTable } from '../../core/terminal/table.ts';
import { command, type PlatformCommand } from './command.ts';
import { inPlace, placeOptions } from './place.ts';

const writeCommand = command({
  describe: 'Write the seal keys of all streams to files, for checks of seals',
  flags: { ...placeOptions, out: { required: true, describe: 'Folder for the key files' } },
  async work({ out, ...flags }) {
    const { writeSealKeys } = await import('../audit/rotation.ts');
    await inPlace(flags, (parts) => writeSealKeys(parts, resolve(out)));
    process.stdout.write(`verify:\n  seal_keys: ${JSON.stringify(resolve(out))}\n`);
  },
});

const COLUMNS = ['stream', 'last entry under the old key', 'old key', 'new key'].map((title) => ({ title }));

const rotateCommand = command({
  describe: 'Seal later entries with a new key, which holders of the old key cannot use',
  flags: {
    ...placeOptions,
    stream: { array: true, describe: 'ID of a stream; repeat for several' },
    all: { type: 'boolean', default: false, describe: 'All streams' },
  },
  async work({ stream, all, ...flags }) {
    if ((stream === undefined) !== all)
      throw new EvidenceError('usage', 'specify streams with --stream, or all with --all');
    const { rotateSealKey, streamEpochs } = await import('../audit/rotation.ts');
    const { RowSeals } = await import('../audit/sealed-rows.ts');
    await inPlace(flags, async ({ database, sealKeys, clock }) => {
      const deps = { keys: sealKeys, seals: new RowSeals(sealKeys.ofRows()), clock };
      const streams = stream ?? (await streamEpochs(database)).map(({ stream_id }) => stream_id);
      const rows: string[][] = [];
      for (const streamId of streams) {
        const { from, to, sequence } = await rotateSealKey(database, deps, streamId);
        rows.push([streamId, `${sequence}`, from, to]);
      }
      process.stdout.write(`${formatTable(COLUMNS, rows)}\n`);
    });
  },
});

/** `evidence-platform seal-keys`: manages the keys that seal entries, with access to the data folder. */
export const sealKeysCommands: Record<string, PlatformCommand> = {
  'seal-keys': {
    describe: 'Write or rotate the keys that seal entries',
    demand: 'Choose a command: seal-keys write or rotate.',
  },
  'seal-keys write': writeCommand,
  'seal-keys rotate': rotateCommand,
};
