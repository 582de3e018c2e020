import { grouped } from '../core/plurals.ts';
import { RATE_LIMITS } from './http/principal.ts';
import type { MailSettings } from './mail/open.ts';
import type { PlatformOptions } from './options.ts';
import { serviceSettingsInForce } from './service-settings.ts';

/** Returns the settings of a platform for people, by their names in platform.yaml, without secrets. */
export function settingsInForce(options: PlatformOptions): [name: string, value: string][] {
  const { dataDir, postgresUrl, publicUrl, tsaUrl, tsaRoots, checkpointMinutes, signUp, mail, logLevel } = options;
  const { signUpDomains = [], trustedProxies = [], metricsFor = 'key', outgoingHosts = [] } = options;
  const { requestsPerMinute, refusalsPerMinute } = options.rateLimits ?? RATE_LIMITS;
  return [
    ['data', dataDir],
    ['postgres_url', postgresUrl ? withoutUser(postgresUrl) : 'none: SQLite in the data folder'],
    ['public_url', publicUrl ?? 'none: the address that the platform listens on'],
    ['tsa_url', tsaUrl ? withoutUser(tsaUrl) : 'none: the development authority, which is not an independent witness'],
    ['tsa_roots', tsaRoots ?? 'none: any authority'],
    ['checkpoint_minutes', checkpointMinutes ? String(checkpointMinutes) : 'none: only on request'],
    ['sign_up', signUp ?? 'closed'],
    ['sign_up_domains', signUpDomains.length === 0 ? 'none: all domains' : signUpDomains.join(', ')],
    ['smtp, mail_folder', mail === undefined ? 'the folder mail in the data folder' : mailsTo(mail)],
    ['outgoing_hosts', outgoingHosts.length === 0 ? 'none: only public addresses' : outgoingHosts.join(', ')],
    ['log_level', logLevel ?? 'warn'],
    ['trusted_proxies', trustedProxies.length === 0 ? 'none' : trustedProxies.join(', ')],
    ['metrics_for', metricsFor],
    ...serviceSettingsInForce(options),
    ['rate_limits', `${grouped(requestsPerMinute)} requests, ${grouped(refusalsPerMinute)} refusals per minute`],
  ];
}

/** Returns an address without user and password. */
function withoutUser(address: string): string {
  const url = URL.parse(address);
  if (url === null) return 'an invalid address';
  return `${url.protocol}//${url.host}${url.pathname}`;
}

function mailsTo(mail: MailSettings): string {
  return 'folder' in mail ? mail.folder : withoutUser(mail.smtp.url);
}
