import { integer, parts } from './der.ts';
import type { Answer, Reply } from './fault-server.ts';
import {
  type CertificateOptions,
  ca,
  type Forgery,
  forge,
  type Issued,
  issue,
  OID,
  purposes,
  statusInfo,
} from './tsa-forge.ts';

/** An authority and the root above it. */
export interface Authority {
  root: Issued;
  signer: Issued;
}

export async function newAuthority(name: string, options: Partial<CertificateOptions> = {}): Promise<Authority> {
  const root = await issue({ subject: `CN=${name} Root`, from: '2020-01-01', to: '2060-01-01', extensions: [ca()] });
  const extensions = [purposes(true, OID.timeStamping)];
  return { root, signer: await issue({ subject: `CN=${name}`, issuer: root, extensions, ...options }) };
}

export interface Lie extends Partial<Forgery> {
  /** Nonce instead of the requested one; null for none. */
  nonce?: number | null;
}

/** Returns a granted response to a query, honest except for the lies. */
export function respond({ signer }: Authority, query: Uint8Array, { nonce, ...lies }: Lie = {}): Buffer {
  const [, imprint, asked] = parts(query);
  const [, octets] = parts(imprint ?? Buffer.alloc(0));
  const stated = nonce === undefined ? asked : nonce === null ? undefined : integer(nonce);
  return forge(signer, {
    imprint: octets?.subarray(2) ?? Buffer.alloc(0),
    info: (fields) => (stated === undefined ? fields : [...fields, stated]),
    status: statusInfo(0),
    ...lies,
  });
}

/** Formats a time such as `2026-03-01T12:00:00Z` as GeneralizedTime. */
export function genTimeAt(moment: string | Date): string {
  return `${new Date(moment)
    .toISOString()
    .replace(/\.\d+Z$/, '')
    .replace(/[-:T]/g, '')}Z`;
}

export function answering(authority: Authority, lies: Lie = {}): Answer {
  return ({ bytes }): Reply => ({
    headers: { 'content-type': 'application/timestamp-reply' },
    body: respond(authority, bytes, lies),
  });
}
