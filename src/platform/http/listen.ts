import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { EvidenceError, messageOf } from '../../core/errors.ts';

/** The time that `closeSoon` waits for open requests. A connection that never sent one would be waited for too. */
const GRACE_MS = 3000;

/** The address to listen on. */
export interface ListenAt {
  host: string;
  /** 0 for any that is free. */
  port: number;
}

/** The origin of a listening server. */
export function listeningOrigin(server: FastifyInstance, host: string): string {
  return originOf(host, portOf(server.server.address()));
}

/** @returns the origin of its addresses. @throws EvidenceError `config` when the port cannot be had. */
export async function listen(server: FastifyInstance, { host, port }: ListenAt): Promise<string> {
  try {
    await server.listen({ host, port });
    return listeningOrigin(server, host);
  } catch (error) {
    throw new EvidenceError('config', `cannot listen on ${host} port ${port}: ${messageOf(error)}`, {
      cause: error,
      nextStep: 'Choose another --port or --host, or end the program that uses it.',
    });
  }
}

/** Lets answers end that are on their way, for a while. */
export async function closeSoon(server: FastifyInstance): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), GRACE_MS);
  await server.close();
  clearTimeout(cut);
}

/** As browsers and programs write it. */
export function originOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function portOf(address: AddressInfo | string | null): number {
  return typeof address === 'object' && address !== null ? address.port : 0;
}
