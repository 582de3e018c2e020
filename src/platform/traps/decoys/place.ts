import type { AddressInfo, Server } from 'node:net';
import type { DecoyPlace, DecoySettings } from './decoy.ts';

/** Where a decoy is reached that listens now. */
export function listeningPlace(settings: DecoySettings, server: Server, authority: string | null): DecoyPlace {
  const { name, kind } = settings;
  const { port } = server.address() as AddressInfo;
  return { name, kind, host: publicHostOf(settings), port: settings.publicPort ?? port, authority };
}

/** The name or address that stands in what is planted. */
export function publicHostOf({ publicHost, host }: DecoySettings): string {
  return publicHost ?? host;
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
