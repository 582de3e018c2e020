import type { CommandModule } from 'yargs';
import { shellWord } from '../../core/shell.ts';
import type { PlatformFlags } from '../config.ts';
import { placeOptions, readPlace } from './place.ts';
import { showKey } from './show-key.ts';

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
      await showKey(lines.join('\n'), dataDir);
    });
  },
};
