import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { startPlatform } from './app.ts';
import { writeSealKeys } from './audit/rotation.ts';
import { PlatformCaller } from './demonstration/caller.ts';
import { playStory, type Tell } from './demonstration/story.ts';
import { checkStreams } from './demonstration/streams.ts';
import { dataFolder } from './folder.ts';
import { importHost } from './import/host.ts';
import type { ImportResult } from './import/result.ts';
import { initPlatform } from './init.ts';
import { withParts } from './parts.ts';
import type { DecoySettings } from './traps/decoys/decoy.ts';

/** Temporary platform inside a process: the only door for the exporter's demonstration. */
export interface EmbeddedPlatform {
  /** Addresses of the services. */
  urls: { audit: string; traps: string; endpoints: string; agents: string };
  apiKey: string;
  /** Records real events of this machine. */
  importHost(directory: string): Promise<ImportResult>;
  /** Plays a real incident with traps, endpoints and agents. */
  playStory(tell: Tell): Promise<void>;
  /** Checks every stream, and has its head timestamped by the development authority. @returns the number of streams. */
  checkStreams(): Promise<number>;
  /** Writes the files for verifying its evidence into a folder. */
  writeTrust(folder: string): Promise<PlatformTrust>;
  /** Stops the platform, and deletes its database. */
  close(): Promise<void>;
}

/** Files for verifying the evidence of a platform. */
export interface PlatformTrust {
  /** Files of seal keys, by the ids in entries. */
  sealKeyFiles: Map<string, string>;
  /** Root of the development authority in PEM, which is not an external witness. */
  rootFile: string;
}

/** Decoy for the demonstration, which listens next to the platform. */
const DECOY: DecoySettings = {
  name: 'intranet',
  kind: 'web',
  host: '127.0.0.1',
  port: 0,
  publicHost: null,
  publicPort: null,
  tls: null,
  isPlain: true,
};

/** Starts a platform on free ports of the loopback address, with a temporary database in this folder. */
export async function startEmbeddedPlatform(parent: string, signal: AbortSignal): Promise<EmbeddedPlatform> {
  const folder = await mkdtemp(join(parent, 'platform-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const dataDir = join(folder, 'data');
    const { apiKey } = await initPlatform({ dataDir });
    const platform = await startPlatform({ dataDir, port: 0, decoys: [DECOY] });
    const { origin, auditUrl } = platform;
    const caller = new PlatformCaller(origin, apiKey, signal);
    return {
      urls: {
        audit: auditUrl,
        traps: `${origin}/traps/api/v1`,
        endpoints: `${origin}/endpoints`,
        agents: `${origin}/agents/api/v1`,
      },
      apiKey,
      importHost: (directory) => importHost({ directory, url: auditUrl, apiKey }),
      playStory: (tell) => playStory({ caller, folder, tell, signal }),
      checkStreams: () => checkStreams(caller),
      async writeTrust(trustFolder) {
        const sealKeyFiles = await withParts({ dataDir }, (parts) => writeSealKeys(parts, trustFolder));
        return { sealKeyFiles, rootFile: join(dataFolder(dataDir).authority, 'root.pem') };
      },
      close: () => platform.close().finally(remove),
    };
  } catch (error) {
    await remove();
    throw error;
  }
}
