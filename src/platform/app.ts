import type { AddressInfo } from 'node:net';
import { EvidenceError, messageOf } from '../core/errors.ts';
import { KeyAuthentication } from './accounts/authentication.ts';
import { auditModule } from './audit/module.ts';
import { dataFolder } from './folder.ts';
import { createServer, type LogLevel } from './http/server.ts';
import type { ServiceModule } from './module.ts';
import { openPlace, openSealKeys, type PlatformPlace } from './setup.ts';
import type { TimestampAuthority } from './timestamp/types.ts';

/** How long `close` waits for requests under way. A connection that never sent one would be waited for too. */
const GRACE_MS = 3000;

export interface PlatformOptions extends PlatformPlace {
  /** 0 for any that is free. */
  port: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** An RFC 3161 authority; without one the development authority of the folder anchors. */
  tsaUrl?: string | null;
  logLevel?: LogLevel;
}

export interface Platform {
  origin: string;
  auditUrl: string;
  /** Ends once requests under way were answered, or after 3 s. */
  close(): Promise<void>;
}

/**
 * Serves a data folder until `close`.
 * @throws EvidenceError `config` when the folder is not initialised or the port cannot be had.
 */
export async function startPlatform(options: PlatformOptions): Promise<Platform> {
  const database = await openPlace(options);
  try {
    const sealKeys = await openSealKeys(options.dataDir);
    const authority = await openAuthority(options);
    const clock = () => new Date();
    const keys = new KeyAuthentication(database, clock);
    const authenticate = (presented: string) => keys.authenticate(presented);
    const server = createServer({ logLevel: options.logLevel ?? 'warn', authenticate });
    const onAnchorFailure = (error: unknown, checkpointId: string | null) =>
      server.log.warn({ checkpointId, reason: messageOf(error) }, 'a checkpoint stays pending');
    const parts = { database, keys: sealKeys, authority, clock, onAnchorFailure };
    const modules: readonly ServiceModule[] = [auditModule(parts)];
    for (const { name, routes } of modules) await server.register(routes, { prefix: `/${name}` });
    const { host = '127.0.0.1', port } = options;
    await listen(server, host, port);
    const started = modules.map((module) => module.start());
    const origin = originOf(host, server.server.address());
    return {
      origin,
      auditUrl: `${origin}/audit`,
      async close() {
        await closeSoon(server);
        for (const running of started) await running.stop();
        await keys.settled();
        await database.close();
      },
    };
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** Lets answers end that are on their way, for a while. */
async function closeSoon(server: ReturnType<typeof createServer>): Promise<void> {
  const cut = setTimeout(() => server.server.closeAllConnections(), GRACE_MS);
  await server.close();
  clearTimeout(cut);
}

async function openAuthority({ dataDir, tsaUrl }: PlatformOptions): Promise<TimestampAuthority> {
  if (!tsaUrl) {
    const { openDevelopmentAuthority } = await import('./timestamp/authority.ts');
    return openDevelopmentAuthority(dataFolder(dataDir).authority);
  }
  const { remoteAuthority } = await import('./timestamp/remote.ts');
  return remoteAuthority(tsaUrl);
}

async function listen(server: ReturnType<typeof createServer>, host: string, port: number): Promise<void> {
  try {
    await server.listen({ host, port });
  } catch (error) {
    throw new EvidenceError('config', `cannot listen on ${host} port ${port}: ${messageOf(error)}`, {
      cause: error,
      nextStep: 'Choose another --port or --host, or end the program that uses it.',
    });
  }
}

function originOf(host: string, address: AddressInfo | string | null): string {
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
