import process from 'node:process';
import type { CommandModule } from 'yargs';
import { EvidenceError } from '../../core/errors.ts';
import { dataOption } from './data.ts';

export const initCommand: CommandModule<object, { data: string }> = {
  command: 'init',
  describe: 'Make a data folder and the first API key',
  builder: (args) => args.option('data', dataOption),
  async handler({ data }) {
    const { initPlatform } = await import('../setup.ts');
    await initPlatform(data, async (apiKey) => {
      const lines = [
        `Made ${data}. Keep its master.key: without it nothing can be sealed or verified.`,
        'The first API key, shown only this once:',
        '',
        `  ${apiKey}`,
        '',
        `Next: evidence-platform serve --data ${data}`,
        '',
      ];
      await print(lines.join('\n')).catch((cause: unknown) => {
        throw new EvidenceError(
          'output',
          `the API key of ${data} could not be shown, and is shown only once; nothing was kept`,
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
