import { once } from 'node:events';
import process from 'node:process';
import { EvidenceError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell.ts';
import type { FirstEntrance } from '../init.ts';
import { command } from './command.ts';
import { showKey } from './keys.ts';
import { placeOptions, readPlace } from './place.ts';

export const initCommand = command({
  describe: 'Make a data folder, the first API key, and the link to the first account',
  flags: placeOptions,
  async work(flags) {
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
});

export const serveCommand = command({
  describe: 'Serve a data folder until SIGINT or SIGTERM',
  flags: {
    ...placeOptions,
    port: { type: 'number', describe: 'Port, 8181 unless said; 0 for any that is free' },
    host: { describe: 'Address to listen on, 127.0.0.1 unless said' },
    'tsa-url': { describe: 'RFC 3161 authority that anchors checkpoints' },
  },
  async work(flags) {
    const { port = 0 } = flags;
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw new EvidenceError('usage', '--port is not a port number', {
        nextStep: 'See `evidence-platform serve --help`.',
      });
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
});

export const backupCommand = command({
  describe: 'Copy a data folder while it is served: a folder that can be served in its place',
  flags: {
    ...placeOptions,
    out: { required: true, describe: 'A folder that is not there yet' },
  },
  async work({ out, ...flags }) {
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
});
