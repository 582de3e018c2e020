import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Description } from '../../src/verifier/profile/description.ts';
import { parseContract } from '../../src/verifier/profile/file.ts';
import { type Ended, evidence } from '../support/evidence.ts';
import { camel } from '../support/services/camel.ts';
import { fastApi } from '../support/services/fastapi.ts';
import type { ServiceKind } from '../support/services/invented-service.ts';
import { results } from '../support/services/results.ts';
import type { Kind } from '../support/services/tampering.ts';
import { someRows } from '../support/some-rows.ts';

const API_KEY = 'sk_of_the_attacked_probe';
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

interface Attacked {
  probe: Ended;
  contract: Description | null;
  /** Text of the contract file. */
  text: string;
}

/** Probes a service that was tampered with before any honest probe. */
async function attack(kind: ServiceKind, tampering: Kind, ...flags: string[]): Promise<Attacked> {
  const folder = newFolder();
  const service = await kind.start({ apiKey: API_KEY, tampering });
  const env = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: API_KEY };
  const probe = await evidence(['probe', '--json', ...flags], { cwd: folder, env });
  await service.close();
  const text = readFileSync(join(folder, 'contract.yaml'), 'utf8');
  return { probe, contract: parseContract(text, 'contract.yaml'), text };
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'probe-attack-'));
  folders.push(folder);
  return folder;
}

describe('a service that was tampered with before it was ever probed', () => {
  let honest: Description | null;
  beforeAll(async () => {
    ({ contract: honest } = await attack(camel, 'valid', '--generate'));
  });

  const main = (from: number, to: number) => [{ stream_id: 'payments', from, to }];
  type Row = [name: string, kind: Kind, code: number, what: string, places: object[]];
  const ROWS: Row[] = [
    ['an edited entry is named, and the recipe of the others written', 'edited', 1, 'recipe', main(30, 30)],
    ['a member that stands twice in an entry', 'duplicate-key', 1, 'recipe', main(30, 30)],
    ['an entry linked elsewhere and hashed anew breaks two links', 'relinked', 1, 'link', main(30, 31)],
    ['a fork', 'forked', 1, 'link', main(31, 31)],
    ['a missing entry', 'dropped', 3, 'sequence', main(31, 31)],
    ['missing entries', 'dropped-range', 3, 'sequence', main(35, 35)],
    ['an entry served twice', 'duplicated', 3, 'sequence', main(30, 30)],
    ['an entry of another stream', 'foreign', 3, 'stream id', main(30, 30)],
    ['a first entry that names a predecessor', 'false-genesis', 3, 'genesis', main(1, 1)],
  ];
  test.each(someRows(ROWS, ([, , , what]) => what))('%s', async (_, kind, code, what, places) => {
    const { probe, contract } = await attack(camel, kind, '--generate');
    expect(probe.code, probe.stderr).toBe(code);
    const { exceptions, exit_code } = JSON.parse(probe.stdout);
    expect(exit_code).toBe(code);
    expect(exceptions).toContainEqual(expect.objectContaining({ what, refuted: code === 1, places }));
    // The contract keeps every role and every check.
    expect(rolesOf(contract)).toEqual(rolesOf(honest));
  });

  test.each<[name: string, kind: Kind, what: string, says: string]>([
    [
      'lacks its last entries: count and head are not dropped without a word',
      'truncated',
      'package facts',
      'recordCount',
    ],
    ['breaks off: that its form was not seen is no success', 'cut-off', 'package', 'could be downloaded'],
  ])('a package that %s', async (_, kind, what, says) => {
    const { probe } = await attack(camel, kind, '--generate');
    expect(probe.code, probe.stderr).toBe(3);
    expect(JSON.parse(probe.stdout).exceptions).toContainEqual(
      expect.objectContaining({ what, says: expect.stringContaining(says) }),
    );
  });

  test.each<[string, Kind]>([
    ['what the recipe does not cover was changed: content says what is not covered', 'edited-metadata'],
    ['the chain was rewritten and is sound: earlier exports and anchors tell, not a first look', 'rewritten'],
  ])('nothing is to be seen where %s', async (_, kind) => {
    expect((await attack(camel, kind, '--generate')).probe.code).toBe(0);
  });
});

test('an edited entry in the sample or not: the recipe is known, so an export refutes it', async () => {
  const { probe, contract, text } = await attack(fastApi, 'edited');
  expect(probe.code, probe.stderr).toBe(1);
  expect(contract?.digest.recipe).not.toBeNull();
  expect(text).toContain('Proved for nearly every entry that was sampled');
  await expectRefuted(fastApi, text);

  const before = await attack(fastApi, 'valid', '--generate');
  expect(before.probe.code, before.probe.stderr).toBe(0);
  expect(before.contract?.digest).toEqual(contract?.digest);
});

test('no recipe is found: probe is incomplete and says the line that a person has to write', async () => {
  const { probe, contract, text } = await attack(results, 'valid', '--search-seconds', '1');
  expect(probe.code, probe.stderr).toBe(3);
  expect(JSON.parse(probe.stdout).outcome).toBe('incomplete');
  expect(contract?.digest.recipe).toBeNull();
  expect(text).toContain('verify: { require: [order] }');
});

/** Returns the contract without the host name and the list's order, which only affect reading. */
function rolesOf(contract: Description | null): object {
  return { ...contract, name: '', entries: { ...contract?.entries, order: '' } };
}

/** Expects an export with the probed contract file to refute an edited entry. */
async function expectRefuted(kind: ServiceKind, contract: string): Promise<void> {
  const folder = newFolder();
  const service = await kind.start({ apiKey: API_KEY, tampering: 'edited' });
  const env = { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: API_KEY };
  const generated = join(folder, 'contract.yaml');
  // The form of a package does not matter here.
  const probe = await evidence(['probe', '--generate'], { cwd: folder, env });
  expect(probe.code, probe.stderr).toBe(1);
  const { digest } = parseContract(contract, 'contract.yaml');
  expect(parseContract(readFileSync(generated, 'utf8'), 'contract.yaml').digest).toEqual(digest);
  const { code, stdout } = await evidence(['export', '--all-time', '--contract', 'contract.yaml', '--json'], {
    cwd: folder,
    env,
  });
  await service.close();
  expect(code).toBe(1);
  const { streams } = JSON.parse(stdout);
  const states = streams.map(({ claims }: { claims: Record<string, { state: string }> }) => claims['content']?.state);
  expect(states.filter((state: string) => state === 'refuted')).toHaveLength(1);
}
