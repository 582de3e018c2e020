import { once } from 'node:events';
import process from 'node:process';
import type { CommandModule } from 'yargs';
import { dataOption } from './data.ts';

interface ServeArguments {
  data: string;
  port: number;
  host: string;
  'tsa-url': string | undefined;
}

export const serveCommand: CommandModule<object, ServeArguments> = {
  command: 'serve',
  describe: 'Serve a data folder until SIGINT or SIGTERM',
  builder: (args) =>
    args
      .option('data', dataOption)
      .option('port', { type: 'number', default: 8181, requiresArg: true, describe: 'Port; 0 for any that is free' })
      .option('host', { type: 'string', default: '127.0.0.1', requiresArg: true, describe: 'Address to listen on' })
      .option('tsa-url', { type: 'string', requiresArg: true, describe: 'RFC 3161 authority that anchors checkpoints' })
      .check(({ port }) => (Number.isInteger(port) && port >= 0 && port <= 65_535) || '--port is not a port number'),
  async handler({ data, port, host, 'tsa-url': tsaUrl }) {
    const { startPlatform } = await import('../app.ts');
    const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
    const platform = await startPlatform({ dataDir: data, port, host, ...(tsaUrl === undefined ? {} : { tsaUrl }) });
    process.stdout.write(`listening on ${platform.origin}\n`);
    await stopped;
    await platform.close();
  },
};
