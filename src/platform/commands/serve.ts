import { once } from 'node:events';
import process from 'node:process';
import type { CommandModule } from 'yargs';
import type { PlatformFlags } from '../config.ts';
import { placeOptions, readPlace } from './place.ts';

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
