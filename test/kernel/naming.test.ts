import { expect, test } from 'vitest';
import type { Json } from '../../src/encoding/canonical.ts';
import { randomFrom } from '../fuzz/packages.ts';
import { ALL_DIALECTS, chainIn, type Dialect, digestTextOf, draftOf, genesisOf, stamp } from '../support/dialects.ts';
import { DialectKernel } from './dialect-kernel.ts';

const STYLE = { spaced: false, ascii: false, pretty: false };
const DIALECTS = ALL_DIALECTS.filter(({ contract }) => contract.plainKind !== null);
const named = DIALECTS.map((dialect) => [dialect.name, dialect] as const);

/** Another text in the place of each prefix, and of each padding less or something else. */
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

/** What an entry may say of its predecessor, and some of what it may not. */
function predecessors(dialect: Dialect, before: readonly string[]): (Json | undefined)[] {
  const last = before.at(-1);
  const right = last === undefined ? genesisOf(dialect) : digestTextOf(dialect, last);
  const digests = [typeof right === 'string' ? right : digestTextOf(dialect, ''), genesisOf(dialect)];
  const texts = digests.filter((digest) => typeof digest === 'string').flatMap((text) => misspelt(text, dialect));
  return [right, ...digests, ...texts, undefined, null, '', 0, false, 'GENESIS', '0', '-', 'null', []];
}

test.each(named)('the first entries of %s name their predecessors as the slow path wants it', (_name, dialect) => {
  const random = randomFrom(5);
  const kernel = new DialectKernel(dialect, chainIn(dialect, 60, random));
  for (const before of [[], chainIn(dialect, 1, random), chainIn(dialect, 2, random)]) {
    let taken = 0;
    for (const previous of predecessors(dialect, before)) {
      const draft = draftOf(dialect, before.length, previous, STYLE, random);
      // The digest that the slow path computes, and the one that the kernel does: nothing else can refuse the entry.
      for (const digest of [undefined, kernel.ownDigest(before, draft)]) {
        const accepted = kernel.accepted([...before, stamp(dialect, draft, digest)]);
        expect([previous, kernel.disagreement(accepted)]).toEqual([previous, null]);
        if (accepted.length > before.length) taken++;
      }
    }
    expect(taken).toBeGreaterThan(0);
  }
});

test.each(named)('digests of %s are written as the slow path reads them', (_name, dialect) => {
  const random = randomFrom(6);
  const kernel = new DialectKernel(dialect, chainIn(dialect, 60, random));
  const [entry = ''] = chainIn(dialect, 1, random);
  const digest = digestTextOf(dialect, entry);
  expect(entry.split(`"${digest}"`)).toHaveLength(2);
  for (const other of misspelt(digest, dialect)) {
    const accepted = kernel.accepted([entry.replace(`"${digest}"`, `"${other}"`)]);
    expect([other, kernel.disagreement(accepted)]).toEqual([other, null]);
  }
});
