import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';
import { EvidenceError } from '../core/errors.ts';
import { startPlatform } from './app.ts';
import { importHost } from './import/host.ts';
import type { ImportResult } from './import/result.ts';
import { initPlatform } from './init.ts';

/** A platform of one's own for as long as a process wants it: the one door for the exporter's demonstration. */
export interface EmbeddedPlatform {
  auditUrl: string;
  apiKey: string;
  /** Records what really happened on this machine. */
  importHost(directory: string): Promise<ImportResult>;
  /** Has the heads of these streams time-stamped by the development authority. */
  makeCheckpoints(streamIds: Iterable<string>): Promise<void>;
  /** Ends it and removes its database. */
  close(): Promise<void>;
}

/** Starts a platform on a free port of the loopback address, on a temporary database in this folder. */
export async function startEmbeddedPlatform(folder: string): Promise<EmbeddedPlatform> {
  const dataDir = await mkdtemp(join(folder, 'platform-'));
  try {
    const { apiKey } = await initPlatform({ dataDir });
    const platform = await startPlatform({ dataDir, port: 0 });
    const { auditUrl } = platform;
    return {
      auditUrl,
      apiKey,
      importHost: (directory) => importHost({ directory, url: auditUrl, apiKey }),
      makeCheckpoints: async (streamIds) => {
        for (const streamId of streamIds) await makeCheckpoint(auditUrl, apiKey, streamId);
      },
      close: async () => {
        await platform.close();
        await rm(dataDir, { recursive: true, force: true });
      },
    };
  } catch (error) {
    await rm(dataDir, { recursive: true, force: true });
    throw error;
  }
}

async function makeCheckpoint(auditUrl: string, apiKey: string, streamId: string): Promise<void> {
  const url = `${auditUrl}/streams/${encodeURIComponent(streamId)}/checkpoints`;
  const { statusCode, body } = await request(url, { method: 'POST', headers: { authorization: `Bearer ${apiKey}` } });
  await body.dump();
  if (statusCode !== 201 && statusCode !== 200)
    throw new EvidenceError('service', `the checkpoint of the stream "${streamId}" failed with status ${statusCode}`);
}
