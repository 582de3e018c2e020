import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json/canonical.ts';
import { DECOY_KINDS, type Decoy, type DecoyDeps } from '../../../src/platform/traps/decoys/decoy.ts';
import { startDecoys } from '../../../src/platform/traps/decoys/start.ts';
import type { PlantedType } from '../../../src/platform/traps/enums.ts';
import { TYPE_OPTIONS } from '../../../src/platform/traps/pages/options.ts';
import type { MadeTrap } from '../../../src/platform/traps/types/type.ts';
import { TYPES } from '../../../src/platform/traps/types/types.ts';
import { settingsOf } from './decoy-places.ts';

let decoys: readonly Decoy[];
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'decoys-'));
  const settings = DECOY_KINDS.map((kind) => settingsOf({ kind, publicHost: `${kind}.corp.example` }));
  const deps = { find: async () => null, record: async () => {}, clock: () => new Date() };
  decoys = await startDecoys(settings, folder, deps as unknown as DecoyDeps);
});
afterAll(async () => {
  for (const decoy of decoys) await decoy.close();
  await rm(folder, { recursive: true });
});

/** Types without a rule: a picture's address is no secret, and the preset has no rule for a kubeconfig (see below). */
const NO_RULE: readonly PlantedType[] = ['web_bug', 'kubeconfig'];
/** Rule `jwt` of gitleaks 8, which secretlint lacks. */
const GITLEAKS_JWT = /\b(ey[a-zA-Z0-9]{17,}\.ey[a-zA-Z0-9/\\_-]{17,}\.(?:[a-zA-Z0-9/\\_-]{10,}={0,2})?)(?:['"\s`;]|$)/;

function make(type: PlantedType, options = {}): Promise<MadeTrap> {
  const places = decoys.map(({ place }) => place);
  const decoy = places.find(({ kind }) => kind === TYPES[type].decoy) ?? null;
  return TYPES[type].make({
    plantLocation: 'server',
    label: 'a label that tells',
    decoy,
    places,
    options,
    publicUrl: 'https://platform.example',
    now: new Date(),
  });
}

async function secretsIn({ artifact }: Pick<MadeTrap, 'artifact'>): Promise<string[]> {
  const { messages } = await lintSource({
    source: {
      content: artifact.content,
      filePath: `/home/somebody/${artifact.filename}`,
      contentType: 'text',
    },
    options: {
      config: { rules: [{ id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, options: {} }] },
    },
  });
  return messages.map(({ ruleId }) => ruleId);
}

const TELLING = /trap|canary|decoy|honey|evidence|bait|fake|a label that tells/i;

/** Removes the authority of a decoy, which several traps share. */
function ownTextOf({ artifact }: MadeTrap): string {
  const shared = decoys.flatMap(({ place }) => (place.authority === null ? [] : [btoa(place.authority)]));
  return shared.reduce((text, each) => text.replaceAll(each, ''), artifact.content);
}

/** Constant beginnings: of a JSON token, of an OpenSSH private key, and of PEM in base64. */
const FORM = /^(?:eyJhbGciOi|b3BlbnNzaC1rZXkt|LS0tLS1CRUdJTi)/;
const ALL = Object.keys(TYPES) as PlantedType[];

test.each(ALL.filter((type) => !NO_RULE.includes(type)))('a secret scanner recognises %s', async (type) => {
  // Fifty tries, because traps are random.
  for (let made = 0; made < 50; made++) expect(await secretsIn(await make(type))).not.toEqual([]);
});

describe.each(ALL)('%s', (type) => {
  test('nothing in it tells what it is', async () => {
    const { artifact, credential } = await make(type);
    expect(`${artifact.filename}\n${artifact.content}`).not.toMatch(TELLING);
    expect(JSON.stringify(credential)).not.toMatch(TELLING);
  });

  test('two have nothing in common by which they could be told, and each is recognised by something', async () => {
    const [one, two] = [await make(type), await make(type)];
    expect(one.marks.length).toBeGreaterThan(0);
    const values = new Set(one.marks.map(({ value }) => value));
    expect(two.marks.filter(({ value }) => values.has(value))).toEqual([]);
    const runs = (text: string) => new Set(text.match(/[A-Za-z0-9]{20,}/g)?.filter((run) => !FORM.test(run)));
    expect([...runs(ownTextOf(one))].filter((run) => runs(ownTextOf(two)).has(run))).toEqual([]);
  });
});

/** A valid value of each option without a fixed list of values. */
const EXAMPLES: Record<string, Json> = {
  account_id: '210987654321',
  region: 'eu-west-1',
  database: 'orders',
  audience: 'billing',
  valid_days: 30,
  repository: 'platform/infra',
  name: 'tools',
};
test.each(ALL)('what the form offers for %s is taken', async (type) => {
  for (const { name, among } of TYPE_OPTIONS[type] ?? [])
    for (const value of among?.map((choice) => choice.value) ?? [EXAMPLES[name]])
      expect((await make(type, { [name]: value })).marks).not.toEqual([]);
});

test.each(['gitlab', 'grafana'])('a token in the form of %s is recognised too', async (form) => {
  expect(await secretsIn(await make('api_token', { form }))).not.toEqual([]);
});

test('a web bug is an address that everybody may know who sees the page: a scanner finds no secret in it', async () => {
  expect(await secretsIn(await make('web_bug'))).toEqual([]);
});

describe('of a kubeconfig', () => {
  test('secretlint knows neither kind, in whatever it holds: it has no rule for a token of a cluster', async () => {
    for (const auth of ['token', 'certificate'])
      expect(await secretsIn(await make('kubeconfig', { auth }))).toEqual([]);
  });

  test('the token is recognised by gitleaks, as any JSON Web Token', async () => {
    const { artifact, credential } = await make('kubeconfig', { auth: 'token' });
    expect(GITLEAKS_JWT.exec(artifact.content)?.[1]).toBe(credential['token']);
  });

  test('the client key is recognised by scanners that undo base64, as gitleaks does', async () => {
    const { artifact } = await make('kubeconfig', { auth: 'certificate' });
    // A real cluster's file has the key in base64; a plain one would give the trap away.
    const content = artifact.content.replaceAll(/(?<=client-key-data: )\S+/g, (text) => atob(text));
    expect(await secretsIn({ artifact: { ...artifact, content } })).not.toEqual([]);
  });
});

test('a token of npm ends with the checksum that scanners know it by', async () => {
  const [, random = '', checksum = ''] =
    /^npm_([A-Za-z0-9]{30})([A-Za-z0-9]{6})$/.exec(String((await make('npm_token')).credential['token'])) ?? [];
  const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
  expect(random).not.toBe('');
  expect([...checksum].reduce((sum, digit) => sum * 62 + digits.indexOf(digit), 0)).toBe(crc32(random));
});
