import { describe, expect, test } from 'vitest';
import type { Json } from '../../../src/core/json/canonical.ts';
import { findChains } from '../../../src/probe/roles/chain.ts';
import {
  entriesPathOf,
  findCheckpoints,
  findFormat,
  findPackageFields,
  findSummary,
} from '../../../src/probe/roles/package.ts';
import { chainOf, samplesOf, sha256, streamOf } from '../sample-service.ts';

const ENTRIES = chainOf('s', 25);
const [ROLES] = findChains([streamOf('s', ENTRIES)]);
if (ROLES === undefined) throw new Error('the sample has no chain');
const roles = ROLES;
const samples = samplesOf(ENTRIES);
const HEAD = ENTRIES.at(-1)?.digest ?? '';
const TOKEN = `MIIC${'A'.repeat(60)}==`;

describe('checkpoints are a list of digests of entries with tokens', () => {
  const find = (points: object[]) => {
    const document = { meta: [{ token: TOKEN }], proofs: { points }, entries: ENTRIES };
    return findCheckpoints(JSON.stringify(document), samples, roles, 'entries', 's');
  };
  const FORM = {
    items: 'proofs.points',
    stream_id: 'of',
    sequence: 'at',
    digest: 'hash',
    token: 'tsa.token',
    token_encoding: 'base64',
  };
  const point = (n: number) => ({
    of: 's',
    at: n,
    hash: ENTRIES[n - 1]?.digest,
    tsa: { token: n === 7 ? null : TOKEN },
  });

  test('whatever their names, one without a token among them', () => {
    expect(find([point(3), point(7), point(25)])).toEqual({ form: FORM, differ: 0 });
  });

  test.each([
    ['of another entry', { ...point(4), hash: ENTRIES[9]?.digest }],
    ['after the end', { ...point(4), at: 26 }],
    ['without a token that is one', { ...point(4), at: 26, tsa: { token: 'none' } }],
    ['without a digest', { of: 's', at: 4, tsa: { token: TOKEN } }],
  ])('one %s does not hide the others, and is counted', (_, bad) => {
    expect(find([bad, point(3)])).toEqual({ form: FORM, differ: 1 });
  });

  test.each([
    ['with the digest of another entry', [{ ...point(4), hash: ENTRIES[9]?.digest }]],
    ['with no token at all', [point(7)]],
    ['none', []],
  ])('not one %s; another list with a token is counted', (_, points) => {
    expect(find(points)).toEqual({ form: null, differ: 1 });
  });
});

const document: Json = JSON.parse(
  JSON.stringify({
    schema: 'evidence/2',
    about: {
      package: 'p-1',
      stream: 's',
      records: 25,
      first_seq: 1,
      last_seq: 25,
      tip: HEAD,
      created_at: '2026-11-01T00:00:00Z',
    },
    other: [{ id: 1 }],
    data: { rows: ENTRIES },
  }),
);

test('a package states what equals what is known', () => {
  expect(entriesPathOf(document, roles)).toBe('data.rows');
  expect(findFormat(document)).toEqual({ field: 'schema', is: 'evidence/2' });
  expect(findPackageFields(document, samples, roles, { packageId: 'p-1', streamId: 's' })).toEqual({
    package_id: 'about.package',
    stream_id: 'about.stream',
    entry_count: 'about.records',
    first_sequence: 'about.first_seq',
    last_sequence: 'about.last_seq',
    head_digest: 'about.tip',
    generated_at: 'about.created_at',
  });
});

test('and nothing that differs from it', () => {
  const about = { package: 'p-2', stream: 't', records: 24, first_seq: 2, last_seq: 24, tip: sha256('another') };
  const found = findPackageFields({ about }, samples, roles, { packageId: 'p-1', streamId: 's' });
  expect(Object.values(found).filter((path) => path !== null)).toEqual([]);
});

test('a package of all streams has neither a head nor a stream of its own', () => {
  const found = findPackageFields(document, samples, roles, { packageId: 'p-1', streamId: null });
  expect(found).toMatchObject({ stream_id: null, first_sequence: null, last_sequence: null, head_digest: null });
});

test('a summary that is no JSON object has no facts', () => {
  expect(findSummary(undefined, samples, roles, { packageId: 'p-1', streamId: 's' })).toBeNull();
  expect(findSummary({ count: 25 }, samples, roles, { packageId: 'p-1', streamId: 's' })?.entry_count).toBe('count');
});
