import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ARCHIVE_VERSION } from '../../src/core/formats.ts';
import { runRuns } from '../../src/exporter/cli/commands/runs.ts';
import { Altered } from '../support/altered-archive.ts';
import { chainOf } from '../support/chain.ts';
import { carryOut } from '../support/command.ts';
import { type FalseService, startFalseService } from '../support/false-service.ts';
import { rebag } from '../support/rebag.ts';

const DOCUMENTS = ['verification', 'service', 'transfer-log'].map((name) => `data/${name}.json`);
/** Message that names the required version. */
const SAID = new RegExp(`format evidence-[a-z-]+/1, and this version reads evidence-[a-z-]+/${ARCHIVE_VERSION}`);

let service: FalseService;
let archive: Altered;
beforeEach(async () => {
  service = await startFalseService();
  service.streams.set('payments/prod', { entries: chainOf(5) });
  expect((await service.export({ request: 'one', 'all-time': true })).code).toBe(0);
  archive = new Altered(join(service.directory, 'evidence-archive'));
});
afterEach(() => service.close());

const asBefore = (...keys: string[]) => {
  for (const key of keys) archive.edit(key, (document) => (document.format = document.format.replace(/\d+$/, '1')));
};
const everything = () => readdirSync(archive.root, { recursive: true }).length;

describe('an archive that another version wrote', () => {
  beforeEach(() => asBefore('archive.json', 'ledger/00000001.json', 'runs/one/run.json'));

  test('is neither verified nor refuted, and it is said what to do', async () => {
    const { code, document } = await service.verify();
    expect([code, document.error.message]).toEqual([2, expect.stringMatching(SAID)]);
    expect(document.error.next_step).toMatch(/Nothing was verified.*"tool" in any runs\/\*\/run.json names it/);
  });

  test('is not exported into', async () => {
    const before = everything();
    const { code, document } = await service.export({ request: 'two', 'all-time': true });
    expect([code, document.error.message]).toEqual([2, expect.stringMatching(SAID)]);
    expect(everything()).toBe(before);
  });

  test('is not listed', async () => {
    const answer = await carryOut(runRuns, {}, service.directory);
    expect([answer.code, answer.said]).toEqual([2, expect.stringMatching(SAID)]);
  });
});

describe('an archive of which somebody changed the version here and there', () => {
  test.each([
    ['in archive.json', ['archive.json']],
    ['in the ledger', ['ledger/00000001.json']],
    ['in a run record', ['runs/one/run.json']],
  ])('%s is refuted', async (_words, keys) => {
    asBefore(...keys);
    expect((await service.verify()).code).toBe(1);
  });
});

describe('a bundle by itself', () => {
  const bundle = () => archive.find('runs/one/streams', '.zip');
  test.each([
    ['that another version wrote is not verified', DOCUMENTS, 2],
    ['of which somebody changed the version of one document is refuted', DOCUMENTS.slice(0, 1), 1],
    ['of which somebody changed the version of another document is refuted', DOCUMENTS.slice(1, 2), 1],
  ])('%s', async (_words, documents, expected) => {
    const target = join(service.directory, 'other.zip');
    await rebag(archive.path(bundle()), target, (files) => {
      for (const path of documents)
        files.set(path, Buffer.from((files.get(path)?.toString() ?? '').replace(`/${ARCHIVE_VERSION}"`, '/1"')));
    });
    const { code, document } = await service.verify(target);
    expect(code).toBe(expected);
    if (expected === 2) expect(document.error.message).toMatch(SAID);
  });

  test('in an archive of ours is refuted with it', async () => {
    await archive.editBundle('one', bundle(), (files) => {
      for (const path of DOCUMENTS)
        files.set(path, Buffer.from((files.get(path)?.toString() ?? '').replace(`/${ARCHIVE_VERSION}"`, '/1"')));
    });
    expect((await service.verify()).code).toBe(1);
  });
});
