import type { CommandModule } from 'yargs';
import { shellWord } from '../../core/shell.ts';
import type { PlatformFlags } from '../config.ts';
import type { FirstEntrance } from '../init.ts';
import { placeOptions, readPlace } from './place.ts';
import { showKey } from './show-key.ts';

export const initCommand: CommandModule<object, PlatformFlags> = {
  command: 'init',
  describe: 'Make a data folder, the first API key, and the link to the first account',
  builder: (args) => args.options(placeOptions),
  async handler(flags) {
    const place = await readPlace(flags);
    const { dataDir } = place;
    const named = Object.entries({ config: flags.config, data: flags.data, postgres: flags.postgres });
    const words = named.flatMap(([name, value]) => (value === undefined ? [] : [` --${name} ${shellWord(value)}`]));
    const { initPlatform } = await import('../init.ts');
    const { linkUrl } = await import('../accounts/links.ts');
    const { publicUrlOf } = await import('../config.ts');
    const handOver = async ({ apiKey, setUpToken }: FirstEntrance) => {
      const lines = [
        `Made ${dataDir}. Keep its master.key: without it nothing can be sealed or verified.`,
        'The first API key, shown only this once:',
        '',
        `  ${apiKey}`,
        '',
        `Next: evidence-platform serve${words.join('')}`,
        'Then open this link, which makes the first account, once and within 24 hours:',
        '',
        `  ${linkUrl(publicUrlOf(place), 'set_up', setUpToken)}`,
        '',
      ];
      await showKey(lines.join('\n'), dataDir);
    };
    await initPlatform(place, { handOver, isRecorded: true });
  },
};
