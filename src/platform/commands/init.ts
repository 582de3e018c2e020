import process from 'node:process';
import type { CommandModule } from 'yargs';
import { EvidenceError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell.ts';
import type { PlatformFlags } from '../config.ts';
import { placeOptions, readPlace } from './place.ts';

export const initCommand: CommandModule<object, PlatformFlags> = {
  command: 'init',
  describe: 'Make a data folder and the first API key',
  builder: (args) => args.options(placeOptions),
  async handler(flags) {
    const place = readPlace(flags);
    const { dataDir } = place;
    const named = Object.entries({ config: flags.config, data: flags.data, postgres: flags.postgres });
    const words = named.flatMap(([name, value]) => (value === undefined ? [] : [` --${name} ${shellWord(value)}`]));
    const { initPlatform } = await import('../setup.ts');
    await initPlatform(place, async (apiKey) => {
      const lines = [
        `Made ${dataDir}. Keep its master.key: without it nothing can be sealed or verified.`,
        'The first API key, shown only this once:',
        '',
        `  ${apiKey}`,
        '',
        `Next: evidence-platform serve${words.join('')}`,
        '',
      ];
      await print(lines.join('\n')).catch((cause: unknown) => {
        throw new EvidenceError(
          'output',
          `the API key of ${dataDir} could not be shown, and is shown only once; nothing was kept`,
          {
            nextStep: 'Run the same command again where its output can be written.',
            cause,
          },
        );
      });
    });
  },
};

/** Waits until the text was taken. */
function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => (error ? reject(error) : resolve()));
  });
}
