import { describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { parseContract } from '../../../src/verifier/profile/file.ts';
import { DEFAULT_DESCRIPTION } from '../../../src/verifier/reading/default-contract.ts';
import { thrownBy } from '../../support/json.ts';

const TEXT = stringify(DEFAULT_DESCRIPTION);
const FORM = 'form: rfc8785';

test('the default contract, written and read', () => {
  expect(parseContract(TEXT, 'c.yaml')).toEqual(DEFAULT_DESCRIPTION);
});

/** Returns the first position of a text in another, as `line:column`. */
function placeOf(text: string, wanted: string): string {
  const before = text.slice(0, text.indexOf(wanted)).split('\n');
  return `${before.length}:${(before.at(-1) ?? '').length + 1}`;
}

/** A replacement, with the position and the text of the expected error. */
type Case = [words: string, from: string, to: string, at: string, message: string, nextStep?: string];

const CASES: Case[] = [
  ['an unknown section', 'streams:\n', 'steams:\n', 'steams', 'unknown key "steams"', 'Did you mean "streams"'],
  [
    'an unknown key',
    'generated_at: gen',
    'generate_at: gen',
    'generate_at',
    'unknown key "package.fields.generate_at"',
    'Did you mean "generated_at"',
  ],
  [
    'a wrong choice',
    'encoding: hex\n  prefix',
    'encoding: base32\n  prefix',
    'encoding: base32',
    'digest.encoding: expected one of "hex", "base64", "base64url"',
  ],
  [
    'a missing section',
    TEXT.slice(TEXT.indexOf('digest:\n  enc'), TEXT.indexOf('seal:\n  field')),
    '',
    'format',
    'digest: expected a mapping',
  ],
  [
    'a form that is none, deep in a list',
    FORM,
    'form: jcs',
    'form: jcs',
    "digest.recipe.preimage.0.json.form: Invalid discriminator value. Expected 'rfc8785' | 'python' | 'as-sent'",
  ],
  [
    'an unknown key, deep in a list',
    FORM,
    `${FORM}\n          wihtout: []`,
    'wihtout',
    'unknown key "digest.recipe.preimage.0.json.wihtout"',
    'Did you mean "without"',
  ],
  [
    'a part of no kind',
    '- json:',
    '- jsno:',
    'jsno',
    'unknown key "digest.recipe.preimage.0.jsno"',
    'Did you mean "json"',
  ],
  [
    'a part that is a wrong word',
    'preimage:\n',
    'preimage:\n      - previos\n',
    'previos',
    'digest.recipe.preimage.0: expected "previous" or "previous-bytes" or a mapping',
  ],
  [
    'a wrong genesis',
    'genesis: zeros',
    'genesis: zeroes',
    'genesis: zeroes',
    'digest.genesis: expected "zeros" or "empty" or "null" or "absent" or a mapping',
  ],
  [
    'members both chosen and left out',
    FORM,
    `${FORM}\n          fields: [actor]`,
    'fields: [actor]',
    'json.fields: either these members or all without some',
  ],
  [
    'an HMAC without a key',
    'algorithm: sha-256',
    'algorithm: hmac-sha-256',
    'key: null',
    'digest.recipe.key: an HMAC needs a key',
  ],
  [
    'a key without an HMAC',
    'key: null',
    'key: { id: k1 }',
    'key: { id',
    'digest.recipe.key: an HMAC needs a key, and a hash has none',
  ],
  [
    'a path with an empty name',
    'previous: prev_hash',
    'previous: link..prev',
    'previous: link',
    'entry.previous: must be names joined by dots',
  ],
  [
    'a path that ends with a dot',
    'previous: prev_hash',
    'previous: link.',
    'previous: link',
    'entry.previous: must be names joined by dots',
  ],
  ['no path where one must be', 'previous: prev_hash', 'previous: ""', 'previous: ""', 'entry.previous: '],
  [
    'a URL that is no path',
    'json: /evidence',
    'json: https://a.example/evidence',
    'json: https',
    'downloads.json: must be a path that begins with "/"',
  ],
  ['another type', 'size: 500', 'size: many', 'size: many', 'streams.limit.size: expected a number'],
  ['another format', 'evidence-contract/1', 'evidence-contract/2', 'format', 'format: expected "evidence-contract/1"'],
  ['a duplicate key', 'name: default', 'name: default\nname: other', 'name: other', 'Map keys must be unique'],
  ['broken syntax', 'streams:\n', 'streams: [\n', '/streams/', 'Implicit keys need to be on a single line'],
  ['a tab', '  path: /streams/', '\tpath: /streams/', '\tpath', 'Tabs are not allowed as indentation'],
];

describe('what is wrong, where, and what was meant', () => {
  test.each(CASES)('%s', (_words, from, to, at, message, nextStep) => {
    expect(TEXT).toContain(from);
    const text = TEXT.replace(from, () => to);
    expect(thrownBy(() => parseContract(text, 'c.yaml'))).toMatchObject({
      code: 'config',
      message: expect.stringContaining(message),
      ...(nextStep === undefined ? {} : { nextStep: expect.stringContaining(nextStep) }),
    });
    const { message: told } = thrownBy(() => parseContract(text, 'c.yaml')) as Error;
    expect(told).toMatch(new RegExp(`^c\\.yaml:${placeOf(text, at)}: `));
  });
});

test('entries of all streams that do not say whose they are', () => {
  const text = TEXT.replace('scope: stream', 'scope: account').replace(
    'entry:\n  stream_id: stream_id',
    'entry:\n  stream_id: null',
  );
  expect(thrownBy(() => parseContract(text, 'c.yaml'))).toMatchObject({
    code: 'config',
    message: expect.stringContaining('entry.stream_id: must be known where a package holds all streams'),
  });
});

test.each([
  ['nothing', ''],
  ['a list', '- a'],
  ['a word', 'hello'],
])('%s is no contract', (_words, text) => {
  expect(thrownBy(() => parseContract(text, 'c.yaml'))).toMatchObject({
    code: 'config',
    message: expect.stringMatching(/^c\.yaml:1:1: /),
  });
});

test('aliases that would fill the memory are refused', () => {
  const names = [...'abcdefghij'];
  const bomb = names.map((name, index) => {
    const item = index === 0 ? 'x' : `*${names[index - 1]}`;
    return `${name}: &${name} [${Array(10).fill(item).join(', ')}]`;
  });
  expect(thrownBy(() => parseContract(`${bomb.join('\n')}\n${TEXT}`, 'c.yaml'))).toMatchObject({
    code: 'config',
    message: 'c.yaml cannot be read: its aliases cannot be resolved',
  });
});
