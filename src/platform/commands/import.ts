import { EvidenceError } from '../../core/errors.ts';
import { command, type PlatformCommand } from './command.ts';

const URL_OPTION = {
  required: true,
  describe: 'base of the audit service, e.g. http://127.0.0.1:8181/audit; its key in EVIDENCE_API_KEY',
} as const;

const cloudTrailCommand = command({
  describe: 'record AWS CloudTrail events: log files as delivered, or one record a line, gzip or not',
  operands: { files: { array: true, required: true, describe: 'log files' } },
  flags: { url: URL_OPTION },
  examples: [['$0 import cloudtrail *.json.gz --url http://127.0.0.1:8181/audit', '']],
  async work({ files, url }) {
    const { importCloudTrail } = await import('../import/cloudtrail.ts');
    const { toTable } = await import('../import/result.ts');
    process.stdout.write(toTable(await importCloudTrail({ files, url, apiKey: apiKeyFromEnvironment() })));
  },
});

const hostCommand = command({
  describe: 'record what really happened on this machine: git history, npm packages, the log of dpkg',
  flags: {
    directory: { default: '.', describe: 'whose git history and installed npm packages are recorded' },
    url: URL_OPTION,
  },
  examples: [['$0 import host --directory . --url http://127.0.0.1:8181/audit', '']],
  epilogue: () =>
    'Of the system package logs only that of dpkg (Debian, Ubuntu) is read, not those of apk, dnf, pacman or brew. ' +
    'Neither the environment nor the URL of a git remote is recorded.',
  async work({ directory, url }) {
    const { importHost } = await import('../import/host.ts');
    const { toTable } = await import('../import/result.ts');
    process.stdout.write(toTable(await importHost({ directory, url, apiKey: apiKeyFromEnvironment() })));
  },
});

/** `evidence-platform import cloudtrail FILE… | host`: records real events through the API of the service. */
export const importCommands: Record<string, PlatformCommand> = {
  import: {
    describe: 'record real events through the audit service; each once, however often it runs',
    demand: 'Say what to import: cloudtrail or host.',
  },
  'import cloudtrail': cloudTrailCommand,
  'import host': hostCommand,
};

function apiKeyFromEnvironment(): string {
  const apiKey = process.env['EVIDENCE_API_KEY'];
  if (apiKey !== undefined && apiKey !== '') return apiKey;
  throw new EvidenceError('config', 'EVIDENCE_API_KEY is not set', {
    nextStep: 'Set EVIDENCE_API_KEY to the key that `evidence-platform init` printed; a key is never a flag.',
  });
}
