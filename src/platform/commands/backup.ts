import process from 'node:process';
import type { CommandModule } from 'yargs';
import { shellWord } from '../../core/shell.ts';
import type { PlatformFlags } from '../config.ts';
import { placeOptions, readPlace } from './place.ts';

export const backupCommand: CommandModule<object, PlatformFlags & { out: string }> = {
  command: 'backup',
  describe: 'Copy a data folder while it is served: a folder that can be served in its place',
  builder: (args) =>
    args.options(placeOptions).option('out', {
      type: 'string',
      demandOption: true,
      requiresArg: true,
      describe: 'A folder that is not there yet',
    }),
  async handler({ out, ...flags }) {
    const place = await readPlace(flags);
    const { backupPlace } = await import('../backup.ts');
    await backupPlace(place, out);
    const database = place.postgresUrl === null ? 'database and keys' : 'keys (the database: pg_dump)';
    const postgres = place.postgresUrl === null ? '' : ' --postgres postgres://WHERE-IT-WAS-RESTORED';
    process.stdout.write(
      `${out} has ${database}, as they were when this began. Keep it where nobody else reads: master.key is in it.\n` +
        `Try it: evidence-platform serve --data ${shellWord(out)}${postgres} --port 0\n`,
    );
  },
};
