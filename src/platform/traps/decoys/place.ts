import type { AddressInfo, Server, Socket } from 'node:net';
import { plainAddress } from '../../../core/address.ts';
import type { DecoyPlace, DecoySettings } from './decoy.ts';

/** Loopback addresses that are reachable when listening on all interfaces. */
const LOOPBACK: Record<string, string> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** Returns the address of a listening decoy. */
export function listeningPlace(settings: DecoySettings, server: Server, authority: string | null): DecoyPlace {
  const { name, kind } = settings;
  const { port } = server.address() as AddressInfo;
  return { name, kind, host: publicHostOf(settings), port: settings.publicPort ?? port, authority };
}

/** Returns the host name or address in planted credentials. */
export function publicHostOf({ publicHost, host }: DecoySettings): string {
  return publicHost ?? host;
}

/** Returns the address at which this machine itself reaches a decoy. */
export function localPlace({ host }: DecoySettings, server: Server): { host: string; port: number } {
  const { port } = server.address() as AddressInfo;
  return { host: LOOPBACK[host] ?? host, port };
}

/** Starts to listen. @throws Error of the system, for example if the port is taken. */
export function listenAs(server: Server, { host, port }: DecoySettings): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port }, () => {
      server.off('error', reject);
      // A connection that cannot be accepted for lack of a file descriptor must not end the process.
      server.on('error', () => {});
      resolve();
    });
  });
}

/** Returns the address of the client, with IPv4-mapped IPv6 written as IPv4. Null if the client has disconnected. */
export function remoteAddressOf({ remoteAddress }: Pick<Socket, 'remoteAddress'>): string | null {
  return remoteAddress === undefined ? null : plainAddress(remoteAddress);
}
