import { expect, test } from 'vitest';
import type { Json } from '../../../../src/core/json/canonical.ts';
import { randomFrom } from '../../../fuzz/packages.ts';
import {
  ALL_DIALECTS,
  chainIn,
  type Dialect,
  digestTextOf,
  draftOf,
  genesisOf,
  stamp,
} from '../../../support/dialects.ts';
import { DialectDecoder } from './dialect-decoder.ts';

const STYLE = { spaced: false, ascii: false, pretty: false };
const DIALECTS = ALL_DIALECTS.filter(({ contract }) => contract.program !== null);
const named = DIALECTS.map((dialect) => [dialect.name, dialect] as const);

/** Returns misspellings of a digest: changed case, padding and prefix. */
function misspelt(digest: string, { description }: Dialect): string[] {
  const { prefix } = description.digest;
  const others = [`${digest}=`, `${digest} `, digest.toUpperCase(), digest.toLowerCase(), digest.slice(0, -1)];
  if (digest.endsWith('=')) others.push(digest.replace(/=+$/, ''), digest.replace(/=$/, '-'), digest.replace(/=/, ''));
  if (prefix !== '') {
    const bare = digest.slice(prefix.length);
    others.push(bare, prefix.toUpperCase() + bare, prefix.replace(/.$/, '-') + bare, prefix.replace(/^./, 'z') + bare);
  }
  return others.filter((other) => other !== digest);
}

/** Returns valid and invalid values for the predecessor's digest. */
function predecessors(dialect: Dialect, before: readonly string[]): (Json | undefined)[] {
  const last = before.at(-1);
  const right = last === undefined ? genesisOf(dialect) : digestTextOf(dialect, last);
  const digests = [typeof right === 'string' ? right : digestTextOf(dialect, ''), genesisOf(dialect)];
  const texts = digests.filter((digest) => typeof digest === 'string').flatMap((text) => misspelt(text, dialect));
  return [right, ...digests, ...texts, undefined, null, '', 0, false, 'GENESIS', '0', '-', 'null', []];
}

test.each(named)('the first entries of %s name their predecessors as the slow path wants it', (_name, dialect) => {
  const random = randomFrom(5);
  const decoder = new DialectDecoder(dialect);
  for (const before of [[], chainIn(dialect, 1, random), chainIn(dialect, 2, random)]) {
    let count = 0;
    for (const previous of predecessors(dialect, before)) {
      const draft = draftOf(dialect, before.length, previous, STYLE, random);
      // Try the slow path's digest and the decoder's, so that only the predecessor can make the decoder refuse.
      for (const digest of [undefined, decoder.ownDigest(before, draft)]) {
        const taken = decoder.taken([...before, stamp(dialect, draft, digest)]);
        expect([previous, decoder.disagreement(taken)]).toEqual([previous, null]);
        if (taken.rows.length > before.length) count++;
      }
    }
    expect(count).toBeGreaterThan(0);
  }
});

test.each(named)('digests of %s are written as the slow path reads them', (_name, dialect) => {
  const random = randomFrom(6);
  const decoder = new DialectDecoder(dialect);
  const [entry = ''] = chainIn(dialect, 1, random);
  const digest = digestTextOf(dialect, entry);
  expect(entry.split(`"${digest}"`)).toHaveLength(2);
  for (const other of misspelt(digest, dialect)) {
    const taken = decoder.taken([entry.replace(`"${digest}"`, `"${other}"`)]);
    expect([other, decoder.disagreement(taken)]).toEqual([other, null]);
  }
});

/** Values whose text in a joined line is ambiguous, or differs from the text sent. */
const VALUES = ['1', '-1', '"1"', '"-1"', '"1e-5"', '"1E+5"', '"-"', '1e5', 'null', '"null"', '""', '"true"', 'true'];
VALUES.push('"{"', '"["', '"|"', '"a|b"', '{"b":1,"a":2}', '{ "a": 1 }', '[2, 1]', '[{"b":1,"a":"\\u0041"}]');

const joined = DIALECTS.flatMap((dialect) => {
  const fields = (dialect.description.digest.recipe?.preimage ?? []).flatMap((part) =>
    typeof part === 'object' && 'join' in part ? part.join.fields : [],
  );
  const words = fields.filter((field) => /^(actor|action)$/.test(field));
  return words.length > 0 ? [[dialect.name, dialect, words] as const] : [];
});

test.each(joined)('a field that %s joins is what the slow path joins, of whatever type', (_name, dialect, fields) => {
  const random = randomFrom(7);
  const draft = draftOf(dialect, 0, genesisOf(dialect), STYLE, random);
  const drafts = fields.flatMap((field) =>
    VALUES.map((value) => draft.replace(new RegExp(`("${field}":)"(?:[^"\\\\]|\\\\.)*"`), `$1${value}`)),
  );
  expect(new Set(drafts).size).toBeGreaterThan(VALUES.length - 2);
  const decoder = new DialectDecoder(dialect);
  for (const each of drafts)
    for (const digest of [undefined, decoder.ownDigest([], each)]) {
      const taken = decoder.taken([stamp(dialect, each, digest)]);
      expect([each, decoder.disagreement(taken)]).toEqual([each, null]);
    }
});
