import { lintSource } from '@secretlint/core';
import { creator } from '@secretlint/secretlint-rule-preset-recommend';
import { describe, expect, test } from 'vitest';
import { DECOY_KINDS, type DecoyPlace } from '../../../src/platform/traps/decoys/decoy.ts';
import type { MadeTrap } from '../../../src/platform/traps/types/type.ts';
import { TYPES, typeOf } from '../../../src/platform/traps/types/types.ts';
import type { CredentialType } from '../../../src/platform/traps/words.ts';

const PLACES: readonly DecoyPlace[] = DECOY_KINDS.map((kind, at) => ({
  ...{ name: kind, kind, host: `${kind}.corp.example`, port: 8000 + at },
  authority: null,
}));
/** An address is no secret. */
const NO_SECRET: readonly CredentialType[] = ['web_bug'];

function make(type: CredentialType, options = {}): Promise<MadeTrap> {
  const decoy = PLACES.find(({ kind }) => kind === typeOf(type).decoy) ?? null;
  return typeOf(type).make({
    ...{ plantLocation: 'server', label: 'a label that tells', decoy, places: PLACES, options },
    ...{ publicUrl: 'https://platform.example', now: new Date() },
  });
}

async function secretsIn({ artifact }: MadeTrap): Promise<string[]> {
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

/** What every one begins with: a token of its kind, a private key in the form of OpenSSH, PEM in base64. */
const FORM = /^(?:eyJhbGciOi|b3BlbnNzaC1rZXkt|LS0tLS1CRUdJTi)/;
const ALL = Object.keys(TYPES) as CredentialType[];

test.each(ALL.filter((type) => !NO_SECRET.includes(type)))('a secret scanner recognises %s', async (type) => {
  expect(await secretsIn(await make(type))).not.toEqual([]);
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
    expect([...runs(one.artifact.content)].filter((run) => runs(two.artifact.content).has(run))).toEqual([]);
  });
});

test.each(['gitlab', 'grafana'])('a token in the form of %s is recognised too', async (form) => {
  expect(await secretsIn(await make('api_token', { form }))).not.toEqual([]);
});
