import type { Socket } from 'node:net';
import { plainAddress } from '../../../core/address.ts';

/** Who is at the other end: an IPv4 address is written as one, also where it came over IPv6. Null once nobody is. */
export function remoteAddressOf({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | null {
  return remoteAddress === undefined ? null : plainAddress(remoteAddress);
}
