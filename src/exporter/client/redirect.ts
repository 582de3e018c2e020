import { EvidenceError } from '../../core/errors.ts';
import type { Answer } from './answer.ts';

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** Those after which a request stays what it is (RFC 9110 sections 15.4.8 and 15.4.9). */
const KEEPS_METHOD: ReadonlySet<number> = new Set([307, 308]);

/**
 * Returns the address to which an answer sends its request, on the same origin; null for one that sends it nowhere.
 * @throws EvidenceError `service` for another origin, which must not see the key, and for a POST that would become a
 * GET.
 */
export function redirectTarget(answer: Answer): URL | null {
  const { call, url, status } = answer;
  const location = answer.header('location');
  if (!REDIRECTS.has(status) || location === null) return null;
  const what = `${call.method} ${url.href} answered ${status} and redirects`;
  if (!URL.canParse(location, url.href)) throw new EvidenceError('service', `${what} to what is no address`);
  const target = new URL(location, url);
  target.hash = '';
  target.username = '';
  target.password = '';
  if (target.origin !== url.origin)
    throw new EvidenceError('service', `${what} to another origin, ${originOf(target)}, which must not see the key`, {
      nextStep: 'If the service has moved there, set source.audit_url to its new address.',
    });
  if (call.method !== 'GET' && !KEEPS_METHOD.has(status))
    throw new EvidenceError('service', `${what}, which would turn the ${call.method} into a GET`, {
      nextStep: 'Check that source.audit_url is the address of the audit service itself.',
    });
  return target;
}

/** Returns the origin for http and https, for others at least the scheme. */
function originOf(url: URL): string {
  return url.origin === 'null' ? url.protocol : url.origin;
}
