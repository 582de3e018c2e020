import { EvidenceError } from '../../../core/errors.ts';
import type { WebhookTarget } from '../../notify/posts.ts';
import { type ConfigGiven, fromCommand, type GivenSecret, inFolder, readGivenSecret, textVariableOf } from './given.ts';

/** Receivers of an export's notifications. */
export interface NotifyConfig {
  /** Address of a dead man's switch; a secret. */
  pingUrl: string | null;
  webhook: WebhookTarget | null;
  /** File for Prometheus. */
  metricsFile: string | null;
}

/** Returns the receivers that can be read from an invalid configuration, each independently of the others. */
export function toSoundNotifyConfig(from: ConfigGiven): NotifyConfig {
  const parts = [readPing, readWebhook, readMetricsFile].map((read) => {
    try {
      return read(from);
    } catch {
      return {};
    }
  });
  return Object.assign({ pingUrl: null, webhook: null, metricsFile: null }, ...parts);
}

/** @throws EvidenceError `config` whose message omits addresses. */
export function toNotifyConfig(from: ConfigGiven): NotifyConfig {
  return { ...readPing(from), ...readWebhook(from), ...readMetricsFile(from) };
}

function readPing(from: ConfigGiven): Pick<NotifyConfig, 'pingUrl'> {
  const file = from.file.notify?.ping_url_file;
  const secret = { name: 'the address of the ping', place: 'notify.ping_url_file', file };
  return { pingUrl: readUrl(from, 'EVIDENCE_PING_URL_FILE', secret) };
}

function readWebhook(from: ConfigGiven): Pick<NotifyConfig, 'webhook'> {
  const { webhook_url_file, webhook_secret_file } = from.file.notify ?? {};
  const address = { name: 'the address of the webhook', place: 'notify.webhook_url_file', file: webhook_url_file };
  const key = { name: 'the secret of the webhook', place: 'notify.webhook_secret_file', file: webhook_secret_file };
  const url = readUrl(from, 'EVIDENCE_WEBHOOK_URL_FILE', address);
  const secret = readGivenSecret(from, 'EVIDENCE_WEBHOOK_SECRET_FILE', key);
  return { webhook: url === null ? null : { url, secret: checkSecret(secret) } };
}

function readMetricsFile(from: ConfigGiven): Pick<NotifyConfig, 'metricsFile'> {
  const ofFile = inFolder(from, from.file.notify?.metrics_file);
  return { metricsFile: fromCommand(from, from.environment['EVIDENCE_METRICS_FILE']) ?? ofFile };
}

function readUrl(from: ConfigGiven, fileVariable: `${string}_FILE`, secret: GivenSecret): string | null {
  const url = readGivenSecret(from, fileVariable, secret);
  if (url === null || (URL.canParse(url) && /^https?:$/.test(new URL(url).protocol))) return url;
  throw new EvidenceError('config', `${secret.name} is not an http:// or https:// URL`, {
    nextStep: `Check ${textVariableOf(fileVariable)}, or the file in ${secret.place}.`,
  });
}

/** Checks a secret by Standard Webhooks 1.0.0: 24 to 64 bytes. */
function checkSecret(secret: string | null): string {
  const bytes = Buffer.from(secret?.replace(/^whsec_/, '') ?? '', 'base64').length;
  if (secret !== null && /^whsec_[A-Za-z0-9+/]+=*$/.test(secret) && bytes >= 24 && bytes <= 64) return secret;
  throw new EvidenceError('config', 'the webhook secret is not whsec_ followed by 24 to 64 bytes in base64', {
    nextStep:
      'Set EVIDENCE_WEBHOOK_SECRET or the content of notify.webhook_secret_file to the secret from the receiver.',
  });
}
