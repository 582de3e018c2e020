import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Description } from '../../../src/verifier/profile/description.ts';
import { parseContract } from '../../../src/verifier/profile/file.ts';
import { DEFAULT_DESCRIPTION } from '../../../src/verifier/reading/default-contract.ts';
import { openContract } from '../../../src/verifier/reading/reading.ts';

const folder = resolve(import.meta.dirname, '../../../templates/contract');
const read = (name: string): Description => parseContract(readFileSync(join(folder, name), 'utf8'), name);

/** Recipe and path of entries that each example demonstrates. */
const RECIPES: [name: string, recipe: string, entriesPath: string[]][] = [
  [
    'account.yaml',
    'hex(sha-256(previous + "\\n" + python-json[compact, utf-8, sorted](entry - [hash, prev_hash])))',
    ['entries'],
  ],
  [
    'camelcase-cursor.yaml',
    'base64url(sha-512(join("|", previousDigest, streamId, sequenceNumber, entryId, recordedAt, actor, action, resource.id, details)))',
    ['evidence', 'entries'],
  ],
  ['default.yaml', 'hex(sha-256(jcs(entry - [hash, seal]))), RFC 8785', ['entries']],
  [
    'fastapi.yaml',
    'hex(sha-256(previous + python-json[spaced, ascii, sorted](entry - [entry_hash, previous_hash])))',
    [],
  ],
  ['link-header.yaml', 'base64(sha-384(jcs(entry[n, id, stream, at, parent, payload]))), RFC 8785', ['chain']],
  ['results-next.yaml', 'hex(hmac-sha-256(previous-bytes + json-as-sent(entry - [link])))', ['records']],
];

test('every example is in the table', () => {
  expect(readdirSync(folder).toSorted()).toEqual(RECIPES.map(([name]) => name));
});

test.each(RECIPES)('%s can be opened', (name, recipe, entriesPath) => {
  expect(openContract(read(name))).toMatchObject({ recipe, entriesPath });
});

test('the default contract is what the program takes without a file', () => {
  expect(read('default.yaml')).toEqual(DEFAULT_DESCRIPTION);
});

describe('the examples show', () => {
  const all = RECIPES.map(([name]) => read(name));
  test('every style of paging but by page number, every way of getting ready, both scopes', () => {
    expect([...new Set(all.map(({ streams }) => streams.paging.style))].toSorted()).toEqual([
      'cursor',
      'link',
      'offset',
      'single',
    ]);
    expect(new Set(all.map(({ generate }) => generate.ready.when)).size).toBe(3);
    expect(new Set(all.map(({ generate }) => generate.scope)).size).toBe(2);
  });
});
