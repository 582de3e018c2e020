import { once } from 'node:events';
import process from 'node:process';
import { EvidenceError } from '../../core/errors.ts';
import { shellWord } from '../../core/shell.ts';
import type { FirstEntrance } from '../init.ts';
import { command } from './command.ts';
import { showKey } from './keys.ts';
import { placeOptions, readPlace } from './place.ts';

export const initCommand = command({
  describe: 'Create a data folder, the first API key, and the link for the first account',
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
        `Created ${dataDir}. Keep its master.key: without it, nothing can be sealed or verified.`,
        'The first API key, which is shown only once:',
        '',
        `  ${apiKey}`,
        '',
        `Next: evidence-platform serve${words.join('')}`,
        'Then open this link, which creates the first account, once, within 24 hours:',
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
    port: { type: 'number', describe: 'Port (default 8181); 0 selects a free port' },
    host: { describe: 'Address to listen on (default 127.0.0.1)' },
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
    const stop = new AbortController();
    void stopped.then(() => stop.abort());
    const platform = await startPlatform({ ...config, environment: process.env, signal: stop.signal }).catch(
      (error: unknown) => {
        if (!stop.signal.aborted) throw error;
        return null;
      },
    );
    if (platform === null) return;
    const { origin, mailTo, bootstrapped } = platform;
    const said = [`listening on ${origin}`, `mails go to ${mailTo}`, ...(bootstrapped === null ? [] : [bootstrapped])];
    process.stdout.write(`${said.join('\n')}\n`);
    await stopped;
    await platform.close();
  },
});

export const backupCommand = command({
  describe: 'Copy a data folder, even while it is served, to a folder that can replace it',
  flags: {
    ...placeOptions,
    out: { required: true, describe: 'New folder for the copy' },
  },
  async work({ out, ...flags }) {
    const place = await readPlace(flags);
    const { backupPlace } = await import('../backup.ts');
    await backupPlace(place, out);
    const database = place.postgresUrl === null ? 'database and keys' : 'keys (the database: pg_dump)';
    const postgres = place.postgresUrl === null ? '' : ' --postgres postgres://WHERE-IT-WAS-RESTORED';
    process.stdout.write(
      `${out} contains the ${database}, as of the start of the backup. Keep it private: it contains master.key.\n` +
        `Try it: evidence-platform serve --data ${shellWord(out)}${postgres} --port 0\n`,
    );
  },
});
