import type { AddressInfo, Server, Socket } from 'node:net';
import { plainAddress } from '../../../core/address.ts';
import type { DecoyPlace, DecoySettings } from './decoy.ts';

/** To listen on all addresses is to listen here too. */
const LOOPBACK: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The address of a listening decoy. */
export function listeningPlace(settings: DecoySettings, server: Server, authority: string | null): DecoyPlace {
  const { name, kind } = settings;
  const { port } = server.address() as AddressInfo;
  return { name, kind, host: publicHostOf(settings), port: settings.publicPort ?? port, authority };
}

/** The name or address that stands in what is planted. */
export function publicHostOf({ publicHost, host }: DecoySettings): string {
  return publicHost ?? host;
}

/** The address at which this machine itself reaches a decoy. */
export function localPlace({ host }: DecoySettings, server: Server): { host: string; port: number } {
  const { port } = server.address() as AddressInfo;
  return { host: LOOPBACK[host] ?? host, port };
}

/** Begins to listen. @throws Error of the system, where the port is taken. */
export function listenAs(server: Server, { host, port }: DecoySettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      // A connection that cannot be accepted, for want of a file descriptor, ends no service.
      server.on('error', () => {});
      resolve();
    });
  });
}

/** The address of the client. IPv4 over IPv6 is written as IPv4. Null once the client is gone. */
export function remoteAddressOf({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | null {
  return remoteAddress === undefined ? null : plainAddress(remoteAddress);
}
