import { isIP } from 'node:net';

/** The scope of passkeys (WebAuthn Level 3, section 4): one host name, and pages of one origin. */
export interface RelyingParty {
  id: string;
  origin: string;
}

/**
 * Browsers have passkeys at host names that are reached by HTTPS, and on the machine itself.
 * @param publicUrl where browsers reach the platform. Never what a request says: that may be anybody's.
 * @returns null where there can be none.
 */
export function relyingPartyOf(publicUrl: string | null): RelyingParty | null {
  const url = publicUrl === null ? null : URL.parse(publicUrl);
  if (url === null || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0) return null;
  const isHere = /(?:^|\.)localhost$/.test(url.hostname);
  return url.protocol === 'https:' || isHere ? { id: url.hostname, origin: url.origin } : null;
}
