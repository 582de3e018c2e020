import type { Argv } from 'yargs';
import { archiveFlags, serviceFlags } from '../config/flags.ts';

export function initFlags(argv: Argv) {
  return argv
    .options({ ...archiveFlags, 'audit-url': serviceFlags['audit-url'] })
    .options({
      mode: {
        choices: ['compliance', 'governance'] as const,
        default: 'compliance' as const,
        describe: 'kind of lock in S3',
      },
      years: { type: 'number', default: 7, describe: 'how long evidence is locked in S3' },
      'legal-hold': { type: 'boolean', describe: 'let the writer put what it stores on legal hold' },
      region: { type: 'string', describe: 'region of the bucket' },
      'kms-key': { type: 'string', describe: 'ARN of the key that S3 encrypts with' },
      cron: { type: 'boolean', describe: 'write deploy/crontab, which exports every month' },
      systemd: { type: 'boolean', describe: 'write services and timers, which export every month' },
      kubernetes: { type: 'boolean', describe: 'write deploy/cronjob.yaml, which exports every month' },
    })
    .example('$0 init --archive s3://acme-evidence/prod', 'evidence.yaml, and policies for the bucket in deploy/')
    .example('$0 init --systemd', 'a timer for the evidence.yaml of this folder, which is made where there is none');
}
export type InitFlags = Awaited<ReturnType<typeof initFlags>['argv']>;
