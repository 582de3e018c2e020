import type { Socket } from 'node:net';
import { plainAddress } from '../../../core/address.ts';

/** The address of the client. IPv4 over IPv6 is written as IPv4. Null once the client is gone. */
export function remoteAddressOf({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | null {
  return remoteAddress === undefined ? null : plainAddress(remoteAddress);
}
