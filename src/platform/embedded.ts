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

/** A platform of one's own for as long as a process wants it: the one door for the exporter's demonstration. */
export interface EmbeddedPlatform {
  /** The address of each of its services. */
  urls: { audit: string; traps: string; endpoints: string; agents: string };
  apiKey: string;
  /** Records what really happened on this machine. */
  importHost(directory: string): Promise<ImportResult>;
  /** Has traps, endpoints and agents do what they are for. */
  playStory(tell: Tell): Promise<void>;
  /** Has every stream checked, and its head time-stamped by the development authority. @returns how many there are. */
  checkStreams(): Promise<number>;
  /** Writes what its evidence can be judged by, into a folder. */
  writeTrust(folder: string): Promise<PlatformTrust>;
  /** Ends it and removes its database. */
  close(): Promise<void>;
}

/** Files by which evidence of a platform is judged. */
export interface PlatformTrust {
  /** By the id that entries name the key by. */
  sealKeyFiles: Map<string, string>;
  /** The root of the development authority, PEM: no external witness. */
  rootFile: string;
}

/** The decoy that listens besides the platform, for the demonstration alone. */
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

/** Starts a platform on free ports of the loopback address, on a temporary database in this folder. */
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
