import process from 'node:process';
import type { CommandModule } from 'yargs';
import { dataOption } from './data.ts';

export const initCommand: CommandModule<object, { data: string }> = {
  command: 'init',
  describe: 'Make a data folder and the first API key',
  builder: (args) => args.option('data', dataOption),
  async handler({ data }) {
    const { initPlatform } = await import('../platform.ts');
    const { apiKey } = await initPlatform(data);
    process.stdout.write(
      [
        `Made ${data}. Keep its master.key: without it nothing can be sealed or verified.`,
        'The first API key, shown only this once:',
        '',
        `  ${apiKey}`,
        '',
        `Next: evidence-platform serve --data ${data}`,
        '',
      ].join('\n'),
    );
  },
};
