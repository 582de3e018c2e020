import { once } from 'node:events';
import process from 'node:process';
import type { CommandModule } from 'yargs';
import { shellWord } from '../../core/shell.ts';
import type { PlatformFlags } from '../config.ts';
import type { FirstEntrance } from '../init.ts';
import { showKey } from './keys.ts';
import { placeOptions, readPlace } from './place.ts';

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

export const serveCommand: CommandModule<object, PlatformFlags> = {
  command: 'serve',
  describe: 'Serve a data folder until SIGINT or SIGTERM',
  builder: (args) =>
    args
      .options(placeOptions)
      .option('port', { type: 'number', requiresArg: true, describe: 'Port, 8181 unless said; 0 for any that is free' })
      .option('host', { type: 'string', requiresArg: true, describe: 'Address to listen on, 127.0.0.1 unless said' })
      .option('tsa-url', { type: 'string', requiresArg: true, describe: 'RFC 3161 authority that anchors checkpoints' })
      .check(
        ({ port = 0 }) => (Number.isInteger(port) && port >= 0 && port <= 65_535) || '--port is not a port number',
      ),
  async handler(flags) {
    const config = await readPlace(flags);
    const { startPlatform } = await import('../app.ts');
    const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    const platform = await startPlatform({ ...config, environment: process.env });
    const { origin, mailTo, bootstrapped } = platform;
    const said = [`listening on ${origin}`, `mails go to ${mailTo}`, ...(bootstrapped === null ? [] : [bootstrapped])];
    process.stdout.write(`${said.join('\n')}\n`);
    await stopped;
    await platform.close();
  },
};

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
