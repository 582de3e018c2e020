import { EvidenceError } from '../../../core/errors.ts';
import type { WebhookTarget } from '../../notify/webhook.ts';
import { type ConfigGiven, fromCommand, inFolder } from './given.ts';
import { type GivenSecret, readGivenSecret } from './given-secret.ts';

/** Whom an export tells how it goes, besides whoever reads its output. */
export interface NotifyConfig {
  /** Of a dead man's switch; a secret. */
  pingUrl: string | null;
  webhook: WebhookTarget | null;
  /** For Prometheus. */
  metricsFile: string | null;
}

/** @throws EvidenceError `config`; no address is in it. */
export function toNotifyConfig(from: ConfigGiven): NotifyConfig {
  const { environment, file } = from;
  const { ping_url_file, webhook_url_file, webhook_secret_file, metrics_file } = file.notify ?? {};
  const pingUrl = readUrl(
    from,
    environment['EVIDENCE_PING_URL'],
    ['EVIDENCE_PING_URL_FILE', environment['EVIDENCE_PING_URL_FILE']],
    {
      ...{ name: 'the address of the ping', place: 'notify.ping_url_file', file: ping_url_file },
    },
  );
  const url = readUrl(
    from,
    environment['EVIDENCE_WEBHOOK_URL'],
    ['EVIDENCE_WEBHOOK_URL_FILE', environment['EVIDENCE_WEBHOOK_URL_FILE']],
    {
      ...{ name: 'the address of the webhook', place: 'notify.webhook_url_file', file: webhook_url_file },
    },
  );
  const secret = readGivenSecret(
    from,
    environment['EVIDENCE_WEBHOOK_SECRET'],
    ['EVIDENCE_WEBHOOK_SECRET_FILE', environment['EVIDENCE_WEBHOOK_SECRET_FILE']],
    { name: 'the secret of the webhook', place: 'notify.webhook_secret_file', file: webhook_secret_file },
  );
  const webhook = url === null ? null : { url, secret: checkSecret(secret) };
  return {
    pingUrl,
    webhook,
    metricsFile: fromCommand(from, environment['EVIDENCE_METRICS_FILE']) ?? inFolder(from, metrics_file),
  };
}

function readUrl(
  from: ConfigGiven,
  text: string | undefined,
  variable: [string, string | undefined],
  secret: GivenSecret,
): string | null {
  const url = readGivenSecret(from, text, variable, secret);
  if (url === null || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) return url;
  throw new EvidenceError('config', `${secret.name} is no URL with http:// or https://`, {
    nextStep: `Check ${variable[0].replace(/_FILE$/, '')}, or the file in ${secret.place}.`,
  });
}

/** Standard Webhooks 1.0.0: 24 to 64 bytes. */
function checkSecret(secret: string | null): string {
  const bytes = Buffer.from(secret?.replace(/^whsec_/, '') ?? '', 'base64').length;
  if (secret !== null && /^whsec_[A-Za-z0-9+/]+=*$/.test(secret) && bytes >= 24 && bytes <= 64) return secret;
  throw new EvidenceError('config', 'the secret of the webhook is not whsec_ and 24 to 64 bytes in base64', {
    nextStep:
      'Set EVIDENCE_WEBHOOK_SECRET, or the file in notify.webhook_secret_file, to the secret that the receiver gave you.',
  });
}
