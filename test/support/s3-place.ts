import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { S3Client } from '@aws-sdk/client-s3';
import { afterAll, beforeAll } from 'vitest';
import { type Ended, evidence } from './evidence.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from './platform.ts';
import { EVIDENCE, startNode } from './process.ts';
import { adminClient, makeBucket, type Radosgw, useRadosgw } from './radosgw.ts';

/** Servers for exports into a real S3, available from the first test of a file on. */
export interface S3Setting {
  platform: ServedPlatform;
  gateway: Radosgw;
  /** Client with all rights. */
  client: S3Client;
}

/** Starts a platform with streams of these lengths, and the gateway. Call it at the top of a test file. */
export function serveS3(streams: Record<string, number>): S3Setting {
  const setting = {} as S3Setting;
  beforeAll(async () => {
    [setting.platform, setting.gateway] = await Promise.all([servePlatform(), useRadosgw()]);
    setting.client = adminClient(setting.gateway);
    for (const [stream, entries] of Object.entries(streams))
      await postEntries(setting.platform, someEntries(stream, entries));
  }, 120_000);
  afterAll(async () => {
    setting.client.destroy();
    await setting.platform.stop();
  });
  return setting;
}

/** A folder with a configuration for a separate bucket. */
export interface S3Place {
  directory: string;
  /** Temporary folder of the program. */
  temporary: string;
  bucket: string;
  /** `archive` section of the configuration. */
  archive: { url: string; endpoint: string } & Record<string, unknown>;
  /** Starts `evidence` in a separate process. */
  start(...args: string[]): ReturnType<typeof startNode>;
  evidence(...args: string[]): Promise<Ended>;
}

/** @param more settings of the archive. */
export async function newPlace(
  { platform, gateway }: S3Setting,
  kind: 'lock' | 'plain',
  more: Record<string, unknown> = {},
): Promise<S3Place> {
  const bucket = await makeBucket(gateway, kind);
  const directory = mkdtempSync(join(tmpdir(), 's3-place-'));
  const temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  const archive = { url: `s3://${bucket}/prod`, endpoint: gateway.endpoint, ...more };
  writeFileSync(join(directory, 'evidence.yaml'), JSON.stringify({ archive }));
  // `verify` reads a configuration only if one is named.
  const env = { ...platform.env, ...gateway.env, TMPDIR: temporary, EVIDENCE_CONFIG: 'evidence.yaml' };
  const options = { cwd: directory, env };
  return {
    directory,
    temporary,
    bucket,
    archive,
    start: (...args) => startNode(EVIDENCE, args, options),
    evidence: (...args) => evidence(args, options),
  };
}
