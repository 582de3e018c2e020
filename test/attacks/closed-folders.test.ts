import { mkdtempSync, rmSync } from 'node:fs';
import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { FlagsOf } from '../../src/exporter/cli/commands/flags-of.ts';
import { runVerify } from '../../src/exporter/cli/commands/verify.ts';
import { archivePackage, RUN } from '../support/archived-package.ts';
import { chainOf, packageOf } from '../support/chain.ts';
import { commandIn } from '../support/command.ts';
import { newKey } from '../support/signed-archive.ts';

/**
 * Folders that may not be listed: the report names such a folder, calls nothing in it missing, and still verifies the
 * others.
 */

/** Path of the closed folder. The test simulates `chmod 000`, because every folder is open to the superuser. */
let closed = '';
const system = { ...fs };
const refuse = async (path: unknown) => {
  throw Object.assign(new Error(`EACCES: permission denied, '${path}'`), { code: 'EACCES' });
};
const isIn = (path: unknown) => closed !== '' && String(path).startsWith(`${closed}/`);
const answers = {
  opendir: (path: string, ...rest: never[]) =>
    isIn(`${path}/`.replace('//', '/')) ? refuse(path) : system.opendir(path, ...rest),
  lstat: (path: string, ...rest: never[]) => (isIn(path) ? refuse(path) : system.lstat(path, ...rest)),
  open: (path: string, ...rest: never[]) => (isIn(path) ? refuse(path) : system.open(path, ...rest)),
};

/** Replaces the functions for modules that imported them earlier, too. */
function answerWith({ opendir, lstat, open }: typeof system | typeof answers): void {
  Object.assign(fs, { opendir, lstat, open });
  syncBuiltinESMExports();
}

const directory = mkdtempSync(join(tmpdir(), 'closed-'));
const archive = join(directory, 'archive');

beforeAll(async () => {
  const evidence = Buffer.from(JSON.stringify(packageOf(chainOf(12))));
  await archivePackage(archive, { bundle: { evidence }, key: newKey() });
  answerWith(answers);
});
afterAll(() => {
  answerWith(system);
  rmSync(directory, { recursive: true, force: true });
});

interface Found {
  code: string;
  key: string;
}

async function verifyWithout(folder: string): Promise<{ code: number; findings: Found[] }> {
  const { context, printed } = commandIn(directory);
  closed = join(archive, folder);
  try {
    const code = await runVerify({ targets: ['archive'] } as FlagsOf<'verify'>, context);
    const { objects, ledger } = JSON.parse(printed.stdout);
    return {
      code,
      findings: [...objects.altered, ...objects.missing, ...objects.unexpected, ...objects.closed, ...ledger.findings],
    };
  } finally {
    closed = '';
  }
}

test('nothing is wrong with the archive', async () => {
  const { findings } = await verifyWithout('nothing');
  expect(findings).toEqual([]);
});

test.each([
  ['of a run', `runs/${RUN}/`],
  ['of the bundles of a run', `runs/${RUN}/streams/`],
  ['of all runs', 'runs/'],
  ['of keys', 'keys/'],
  ['of the ledger', 'ledger/'],
])('a folder %s', async (_words, folder) => {
  const { code, findings } = await verifyWithout(folder.slice(0, -1));
  expect(findings).toContainEqual(expect.objectContaining({ code: 'object/closed', key: folder }));
  expect(findings.filter((finding) => finding.code !== 'object/closed')).toEqual([]);
  expect(code).toBe(3);
});
