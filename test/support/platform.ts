import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPlatform } from '../../src/platform/app.ts';
import { initPlatform } from '../../src/platform/init.ts';
import type { PlatformOptions } from '../../src/platform/options.ts';

export interface ServedPlatform {
  auditUrl: string;
  apiKey: string;
  dataDir: string;
  /** Environment of the exporter. */
  env: { EVIDENCE_AUDIT_URL: string; EVIDENCE_API_KEY: string };
  stop(): Promise<void>;
}

export interface NewEntry {
  stream_id: string;
  actor: string;
  action: string;
  resource_type: string;
  resource_id: string;
  metadata?: unknown;
  idempotency_key?: string;
}

/** Creates a platform and serves it on a free port. */
export async function servePlatform(options: Pick<PlatformOptions, 'decoys'> = {}): Promise<ServedPlatform> {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'platform-test-')), 'data');
  const { apiKey } = await initPlatform({ dataDir });
  return serveAgain(dataDir, apiKey, options);
}

/** Serves an existing platform, or a copy of one, on a free port. */
export async function serveAgain(
  dataDir: string,
  apiKey: string,
  options: Pick<PlatformOptions, 'decoys'> = {},
): Promise<ServedPlatform> {
  const platform = await startPlatform({ dataDir, port: 0, ...options });
  const { auditUrl } = platform;
  return {
    auditUrl,
    apiKey,
    dataDir,
    env: { EVIDENCE_AUDIT_URL: auditUrl, EVIDENCE_API_KEY: apiKey },
    stop: () => platform.close(),
  };
}

/** Records entries over HTTP, in batches. */
export async function postEntries(platform: ServedPlatform, entries: readonly NewEntry[]): Promise<void> {
  for (let at = 0; at < entries.length; at += 1000) {
    const answer = await fetch(`${platform.auditUrl}/entries/batch`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ entries: entries.slice(at, at + 1000) }),
    });
    if (answer.status !== 201) throw new Error(`POST /entries/batch answered ${answer.status}: ${await answer.text()}`);
  }
}

/** Returns this many entries of a stream, with varying values. */
export function someEntries(streamId: string, count: number): NewEntry[] {
  return Array.from({ length: count }, (_, index) => ({
    stream_id: streamId,
    actor: index % 3 === 0 ? 'Zoë Müller' : 'svc-backup',
    action: index % 2 === 0 ? 'secret.read' : 'secret.rotate',
    resource_type: 'secret',
    resource_id: `r/${index}`,
    metadata: { n: index, note: 'quote " backslash \\ brace }', nested: { list: [1, true, null] } },
  }));
}
