import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseS3Url } from '../../../../src/exporter/archive/s3/options.ts';
import { loadConfig } from '../../../../src/exporter/cli/config/config.ts';
import type { StoreSettings } from '../../../../src/exporter/cli/config/store-settings.ts';
import { withArchiveIfAny, withArchiveMade } from '../../../../src/exporter/cli/config/stores.ts';
import { thrownBy } from '../../../support/json.ts';

/** Returns the settings that result from `archive: {…}` and `--endpoint`. */
async function settingsOf(archive: string, flags: { endpoint?: string } = {}): Promise<StoreSettings> {
  const folder = mkdtempSync(join(tmpdir(), 'store-settings-'));
  writeFileSync(join(folder, 'evidence.yaml'), `archive: ${archive}\n`);
  const { store } = (await loadConfig(flags, {}, folder)).archive;
  return store.caFile === undefined ? store : { ...store, caFile: store.caFile.replace(folder, 'FOLDER') };
}

const PLAIN = { pathStyle: false, legalHold: false };

test.each<[string, { endpoint?: string }, StoreSettings]>([
  ['{ url: s3://bucket/x }', {}, PLAIN],
  ['{ endpoint: https://s3.example }', {}, { ...PLAIN, endpoint: 'https://s3.example', pathStyle: true }],
  ['{ endpoint: https://s3.example, path_style: false }', {}, { ...PLAIN, endpoint: 'https://s3.example' }],
  [
    '{ endpoint: https://s3.example }',
    { endpoint: 'http://127.0.0.1:9' },
    { ...PLAIN, endpoint: 'http://127.0.0.1:9', pathStyle: true },
  ],
  ['{ region: eu-central-1, profile: audit }', {}, { ...PLAIN, region: 'eu-central-1', profile: 'audit' }],
  ['{ ca_file: tls/ca.pem }', {}, { ...PLAIN, caFile: 'FOLDER/tls/ca.pem' }],
  [
    '{ retention: { mode: compliance, years: 7 }, legal_hold: true, kms_key_id: k }',
    {},
    { pathStyle: false, legalHold: true, retention: { mode: 'compliance', years: 7 }, kmsKeyId: 'k' },
  ],
])('archive: %s with %j', async (archive, flags, expected) => {
  expect(await settingsOf(archive, flags)).toEqual(expected);
});

test.each([
  ['{ retention: { mode: forever, years: 7 } }', /governance/],
  ['{ retention: { mode: compliance } }', /years/],
  ['{ retention: { mode: compliance, years: 0 } }', /years/],
  ['{ retention: { mode: compliance, years: 1.5 } }', /years/],
  ['{ bucket: x }', /bucket/],
  ['{ endpoint: "ftp://x" }', /endpoint/],
  ['{ endpoint: "https://me:hunter2@x" }', /user name or password/],
])('archive: %s is refused', async (archive, words) => {
  const error = await settingsOf(archive).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'config', message: expect.stringMatching(words) });
  expect((error as Error).message).not.toContain('hunter2');
});

describe('the address of an archive in S3', () => {
  test.each([
    ['s3://bucket', 'bucket', ''],
    ['s3://bucket/', 'bucket', ''],
    ['s3://my.bucket-1/prod', 'my.bucket-1', 'prod/'],
    ['S3://bucket/a/b//', 'bucket', 'a/b/'],
  ])('%s', (url, bucket, prefix) => {
    expect(parseS3Url(url)).toEqual({ bucket, prefix });
  });

  test.each([
    's3://',
    's3:///x',
    's3://AKIA:hunter2@bucket/x',
    's3://bucket?x',
    's3://bucket/../x',
    's3://bucket/a//b',
  ])('%s is refused', (url) => {
    const error = thrownBy(() => parseS3Url(url));
    expect(error).toMatchObject({ code: 'config' });
    expect((error as Error).message).not.toContain('hunter2');
  });
});

test.each([
  [{ retention: { mode: 'governance' as const, years: 1 } }, 'archive.retention'],
  [{ legalHold: true }, 'archive.legal_hold'],
  [{ kmsKeyId: 'k' }, 'archive.kms_key_id'],
])('a folder that is to protect what it cannot (%j) is not made', async (more, setting) => {
  const directory = mkdtempSync(join(tmpdir(), 'store-settings-'));
  const caller = { directory, signal: new AbortController().signal };
  const making = withArchiveMade({ url: 'archive', store: { ...PLAIN, ...more } }, caller, async () => null);
  await expect(making).rejects.toMatchObject({ code: 'config', message: expect.stringContaining(setting) });
  const named = { url: 'archive', store: PLAIN };
  expect(await withArchiveIfAny(named, caller, async (archive) => archive)).toBeNull();
});
