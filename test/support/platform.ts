import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { finish, PLATFORM, startNode } from './process.ts';

export interface ServedPlatform {
  auditUrl: string;
  apiKey: string;
  dataDir: string;
  /** What the exporter needs in its environment. */
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

/** A new platform, served by a process of its own on a free port. */
export async function servePlatform(): Promise<ServedPlatform> {
  const dataDir = join(mkdtempSync(join(tmpdir(), 'platform-test-')), 'data');
  const init = await finish(startNode(PLATFORM, ['init', '--data', dataDir], { cwd: tmpdir() }));
  const apiKey = /sk_\w+/.exec(init.stdout)?.[0];
  if (init.code !== 0 || apiKey === undefined) throw new Error(`init ended with ${init.code}: ${init.stderr}`);
  const child = startNode(PLATFORM, ['serve', '--data', dataDir, '--port', '0'], { cwd: tmpdir() });
  let origin: string | undefined;
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    origin = /listening on (http:\S+)/.exec(line)?.[1];
    if (origin !== undefined) break;
  }
  if (origin === undefined) throw new Error('the platform did not start');
  const auditUrl = `${origin}/audit`;
  return {
    auditUrl,
    apiKey,
    dataDir,
    env: { EVIDENCE_AUDIT_URL: auditUrl, EVIDENCE_API_KEY: apiKey },
    stop: async () => {
      if (child.exitCode !== null) return;
      const closed = once(child, 'exit');
      child.kill('SIGTERM');
      await closed;
    },
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

/** So many entries of a stream, each a little different. */
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
