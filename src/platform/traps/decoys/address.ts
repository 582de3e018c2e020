import type { Socket } from 'node:net';

const MAPPED = /^::ffff:(\d{1,3}(?:\.\d{1,3}){3})$/i;

/** Who is at the other end: an IPv4 address is written as one, also where it came over IPv6. Null once nobody is. */
export function remoteAddressOf({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | null {
  if (remoteAddress === undefined) return null;
  return MAPPED.exec(remoteAddress)?.[1] ?? remoteAddress;
}
