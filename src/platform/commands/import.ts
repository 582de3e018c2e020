import { EvidenceError } from '../../core/errors.ts';
import { command, type PlatformCommand } from './command.ts';

const URL_OPTION = {
  required: true,
  describe: 'base URL of the audit service, such as http://127.0.0.1:8181/audit; EVIDENCE_API_KEY has its key',
} as const;

const cloudTrailCommand = command({
  describe: 'record AWS CloudTrail events from log files as delivered or with one record per line, gzip or not',
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
  describe: 'record real events of this machine: git history, npm packages, the dpkg log',
  flags: {
    directory: { default: '.', describe: 'folder whose git history and installed npm packages are recorded' },
    url: URL_OPTION,
  },
  examples: [['$0 import host --directory . --url http://127.0.0.1:8181/audit', '']],
  epilogue: () =>
    'Reads the dpkg log (Debian, Ubuntu), but not those of apk, dnf, pacman or brew. ' +
    'Does not record the environment or URLs of git remotes.',
  async work({ directory, url }) {
    const { importHost } = await import('../import/host.ts');
    const { toTable } = await import('../import/result.ts');
    process.stdout.write(toTable(await importHost({ directory, url, apiKey: apiKeyFromEnvironment() })));
  },
});

/** `evidence-platform import cloudtrail FILE… | host`: records real events through the API of the service. */
export const importCommands: Record<string, PlatformCommand> = {
  import: {
    describe: 'record real events through the audit service, each event once even if repeated',
    demand: 'Choose what to import: cloudtrail or host.',
  },
  'import cloudtrail': cloudTrailCommand,
  'import host': hostCommand,
};

function apiKeyFromEnvironment(): string {
  const apiKey = process.env['EVIDENCE_API_KEY'];
  if (apiKey !== undefined && apiKey !== '') return apiKey;
  throw new EvidenceError('config', 'EVIDENCE_API_KEY is not set', {
    nextStep: 'Set EVIDENCE_API_KEY to the key that `evidence-platform init` printed. Keys cannot be given as flags.',
  });
}
