import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { EvidenceError, messageOf } from '../../core/errors.ts';

/** Time that `closeSoon` waits for open requests; also bounds the wait for connections that never sent one. */
const GRACE_MS = 3000;

/** Address to listen on. */
export interface ListenAt {
  host: string;
  /** Port; 0 selects any free one. */
  port: number;
}

/** Returns the origin of a listening server. */
export function listeningOrigin(server: FastifyInstance, host: string): string {
  return originOf(host, portOf(server.server.address()));
}

/** @returns the origin of its addresses. @throws EvidenceError `config` if the port is not available. */
export async function listen(server: FastifyInstance, { host, port }: ListenAt): Promise<string> {
  try {
    await server.listen({ host, port });
    return listeningOrigin(server, host);
  } catch (error) {
    throw new EvidenceError('config', `cannot listen on ${host} port ${port}: ${messageOf(error)}`, {
      cause: error,
      nextStep: 'Choose another --port or --host, or stop the program that uses the port.',
    });
  }
}

/** Closes a server, giving running answers some time to finish. */
export async function closeSoon(server: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), GRACE_MS);
  await server.close();
  clearTimeout(cut);
}

/** Returns an origin as browsers and programs write it. */
export function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
