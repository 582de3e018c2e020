import { expect, test } from 'vitest';
import { runInit } from '../../../../src/exporter/cli/commands/init.ts';
import { storeOf } from '../../../../src/exporter/cli/config/stores.ts';
import { carryOut } from '../../../support/command.ts';

test.each([
  ['evidence', 'file', '/here/evidence'],
  ['./evidence/', 'file', '/here/evidence'],
  ['/srv/evidence', 'file', '/srv/evidence'],
  ['file:///srv/evidence', 'file', '/srv/evidence'],
  ['FILE:///srv/evidence', 'file', '/srv/evidence'],
  ['s3:/no-url', 'file', '/here/s3:/no-url'],
  ['s3://bucket/prod//', 's3', 's3://bucket/prod'],
  ['S3://bucket', 's3', 'S3://bucket'],
])('%s is an address of the store %s', (address, scheme, located) => {
  const store = storeOf(address);
  expect([store.scheme, store.locate(address, '/here')]).toEqual([scheme, located]);
});

test.each([
  [{ endpoint: 'https://s3.example', 'kms-key': 'k' }, /--endpoint, --kms-key has no effect on an archive in a folder/],
  [{ 'legal-hold': true }, /--legal-hold has no effect on an archive in a folder/],
])('init refuses %j for a store that has no use for it', async (flags, says) => {
  // The command writes nothing, so it needs no folder.
  const { code, said } = await carryOut(runInit, { years: 7, mode: 'compliance', ...flags }, '/nonexistent');
  expect(code).toBe(2);
  expect(said).toMatch(says);
});
