import type { Json } from '../../../core/json/canonical.ts';
import { type PlatformSigner, signJwt } from './signatures.ts';

export const SECURITY_EVENT_NAMES = ['suspended', 'revoked', 'reinstated'] as const;
export type SecurityEventName = (typeof SECURITY_EVENT_NAMES)[number];

/** An event about an agent, for subscribers. */
export interface SecurityEvent {
  /** The audience. */
  aud: string;
  jti: string;
  /** The id shared by several messages: that of a kill. */
  txn?: string;
  event: SecurityEventName;
  /** When it happened. */
  at: Date;
  /** No secrets: it is signed, not encrypted. */
  detail: { [name: string]: Json };
}

const RISC = 'https://schemas.openid.net/secevent/risc/event-type';
/** Events that every receiver of OpenID RISC knows. Our own event stands beside each, with its detail. */
const RISC_EVENTS: Record<SecurityEventName, string> = {
  suspended: `${RISC}/account-disabled`,
  revoked: `${RISC}/account-disabled`,
  reinstated: `${RISC}/account-enabled`,
};

export function ownEventUri(event: SecurityEventName): string {
  return `urn:evidence-platform:agent:${event}`;
}

/** A Security Event Token (RFC 8417), whose subject is a DID (RFC 9493 section 3.2.6). */
export function signSecurityEventToken(
  { aud, jti, txn, event, at, detail }: SecurityEvent,
  { issuer, did, now }: { issuer: string; did: string; now: Date },
  signer: PlatformSigner,
): string {
  const seconds = (time: Date) => Math.floor(time.getTime() / 1000);
  const claims = {
    iss: issuer,
    jti,
    iat: seconds(now),
    aud,
    toe: seconds(at),
    ...(txn !== undefined && { txn }),
    sub_id: { format: 'did', url: did },
    events: { [RISC_EVENTS[event]]: {}, [ownEventUri(event)]: detail },
  };
  return signJwt(claims, 'secevent+jwt', signer);
}
