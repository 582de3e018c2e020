import type { Argv, CommandModule } from 'yargs';
import { EvidenceError } from '../../core/errors.ts';

const URL_OPTION = {
  type: 'string',
  demandOption: true,
  requiresArg: true,
  describe: 'base of the audit service, e.g. http://127.0.0.1:8181/audit; its key in EVIDENCE_API_KEY',
} as const;

const cloudTrailCommand: CommandModule<object, { files: string[]; url: string }> = {
  command: 'cloudtrail <files..>',
  describe: 'record AWS CloudTrail events: log files as delivered, or one record a line, gzip or not',
  builder: (yargs) =>
    yargs
      .positional('files', { type: 'string', array: true, demandOption: true, describe: 'log files' })
      .option('url', URL_OPTION)
      .example('$0 import cloudtrail *.json.gz --url http://127.0.0.1:8181/audit', ''),
  handler: async ({ files, url }) => {
    const { importCloudTrail } = await import('./cloudtrail.ts');
    const { toTable } = await import('./result.ts');
    process.stdout.write(toTable(await importCloudTrail({ files, url, apiKey: apiKeyFromEnvironment() })));
  },
};

const hostCommand: CommandModule<object, { directory: string; url: string }> = {
  command: 'host',
  describe: 'record what really happened on this machine: git history, npm packages, the log of dpkg',
  builder: (yargs) =>
    yargs
      .option('directory', {
        type: 'string',
        default: '.',
        requiresArg: true,
        describe: 'whose git history and installed npm packages are recorded',
      })
      .option('url', URL_OPTION)
      .example('$0 import host --directory . --url http://127.0.0.1:8181/audit', '')
      .epilogue(
        'Of the system package logs only that of dpkg (Debian, Ubuntu) is read, not those of apk, dnf, pacman or brew. ' +
          'Neither the environment nor the URL of a git remote is recorded.',
      ),
  handler: async ({ directory, url }) => {
    const { importHost } = await import('./host.ts');
    const { toTable } = await import('./result.ts');
    process.stdout.write(toTable(await importHost({ directory, url, apiKey: apiKeyFromEnvironment() })));
  },
};

/** `evidence-platform import cloudtrail FILE… | host`: real events through the service's own door. */
export const importCommand: CommandModule = {
  command: 'import',
  describe: 'record real events through the audit service; each once, however often it runs',
  builder: (yargs: Argv) =>
    yargs.command(cloudTrailCommand).command(hostCommand).demandCommand(1, 'Say what to import: cloudtrail or host.'),
  // yargs wants a handler; `demandCommand` never lets it be reached.
  handler: () => undefined,
};

function apiKeyFromEnvironment(): string {
  const apiKey = process.env['EVIDENCE_API_KEY'];
  if (apiKey !== undefined && apiKey !== '') return apiKey;
  throw new EvidenceError('config', 'EVIDENCE_API_KEY is not set', {
    nextStep: 'Set EVIDENCE_API_KEY to the key that `evidence-platform init` printed; a key is never a flag.',
  });
}
