import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toHmacKey } from '../../../src/core/digest.ts';
import { isEvidenceError } from '../../../src/core/errors.ts';
import { readWritten, type Written } from '../../../src/core/json/source-text.ts';
import type { Entry } from '../../../src/verifier/model/entry.ts';
import { unhashedWords } from '../../../src/verifier/model/unhashed.ts';
import { descriptionSchema } from '../../../src/verifier/profile/description.ts';
import type { Contract } from '../../../src/verifier/reading/contract.ts';
import { openContract } from '../../../src/verifier/reading/reading.ts';
import { DIALECTS, describeDialect } from '../../support/vendor-dialects.ts';

/** Entries of one stream of each dialect as sent, made by python3. */
const SENT: Record<string, string[]> = JSON.parse(
  execFileSync('python3', [join(import.meta.dirname, '../../support/vendor-dialects.py')], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  }),
);

const KEYS = new Map([
  ['k1', toHmacKey(Buffer.from('the first key'))],
  ['k2', toHmacKey(Buffer.from('\x00\xff the second', 'latin1'))],
]);

function read(contract: Contract, text: string): Entry {
  JSON.parse(text);
  return contract.readEntry(Buffer.from(text), countMembers(readWritten(text)), KEYS);
}

function countMembers(node: Written): number {
  if (node.kind === 'array') return node.items.reduce((sum, item) => sum + countMembers(item), 0);
  if (node.kind !== 'object') return 0;
  return node.members.reduce((sum, { value }) => sum + 1 + countMembers(value), 0);
}

/** Returns the result of our computation for the entry. */
function outcomeOf(contract: Contract, text: string): 'same' | 'mismatch' | 'contract' | 'no-key' {
  try {
    const { content, digest } = read(contract, text);
    if (content.state === 'computed') return content.digest === digest ? 'same' : 'mismatch';
    if (content.state === 'no-key') return content.state;
    throw new TypeError(content.state);
  } catch (error) {
    if (isEvidenceError(error, 'contract')) return 'contract';
    throw error;
  }
}

interface Leaf {
  /** Path of members down to the value; values within an array have the array's path. */
  path: string[];
  start: number;
  end: number;
}

function leavesOf(node: Written, path: string[] = []): Leaf[] {
  if (node.kind === 'array' && node.items.length > 0)
    return node.items.flatMap((item) => leavesOf(item, path).map((leaf) => ({ ...leaf, path })));
  if (node.kind === 'object' && node.members.length > 0)
    return node.members.flatMap(({ name, value }) => leavesOf(value, [...path, name]));
  return [{ path, start: node.start, end: node.end }];
}

const WORDS: Record<string, string> = { true: 'false', false: 'true', null: '7', '""': '"x"', '{}': '{"x":1}' };

/** Replaces the value; strings and numbers change in one character. */
function changed(text: string, { path, start, end }: Leaf): string {
  const sent = text.slice(start, end);
  const isDigest = ['hash', 'prev'].includes(path.at(-1) ?? '');
  const from = isDigest ? sent.length >> 1 : sent.startsWith('"\\u') ? 6 : 0;
  const at = from + sent.slice(from).search(/[0-9A-Za-z]/);
  const sign = sent.charAt(at);
  const other = /\d/.test(sign) ? String((Number(sign) % 9) + 1) : sign === 'a' ? 'b' : 'a';
  const edited = at < from ? `"x${sent.slice(1)}` : sent.slice(0, at) + other + sent.slice(at + 1);
  const value = WORDS[sent] ?? edited;
  return text.slice(0, start) + value + text.slice(end);
}

test('every dialect that python3 wrote is in the table', () => {
  expect(DIALECTS.map(([name]) => name)).toEqual(Object.keys(SENT));
});

describe.each(DIALECTS)('%s', (name, changes, expected) => {
  const description = describeDialect(name, changes);
  const contract = openContract(description);
  const texts = SENT[name] ?? [];

  test('is described as a contract file may describe it', () => {
    expect(descriptionSchema.parse(description)).toEqual(description);
  });

  test('every digest is the one that python3 made, and each entry names the one before it', () => {
    expect(texts.length).toBeGreaterThanOrEqual(20);
    let previous = contract.genesis;
    for (const [index, text] of texts.entries()) {
      const entry = read(contract, text);
      expect(entry.content).toMatchObject({ state: 'computed', digest: entry.digest });
      expect(entry.previous).toBe(previous);
      expect(entry.sequence).toBe(index + contract.firstSequence);
      expect(new Date(entry.timestamp).getTime()).toBeGreaterThanOrEqual(Date.UTC(2026, 9, 1, 0, 0, index));
      expect(new Date(entry.timestamp).getTime()).toBeLessThan(Date.UTC(2026, 9, 1, 0, 0, index + 1));
      previous = entry.digest;
    }
  });

  const unhashedOf = (text: string): readonly string[] => {
    const { content } = read(contract, text);
    return content.state === 'computed' ? content.unhashed.map(unhashedWords) : [];
  };

  test('what is not covered is named, what plays a role first', () => {
    expect([...new Set(texts.flatMap(unhashedOf))].toSorted()).toEqual(expected.toSorted());
    const roles = ['seq', 'chain.seq', 'prev', 'stream', 'at', 'id'];
    const named = unhashedOf(texts[1] ?? '');
    const ranks = named.map((path) => roles.indexOf(path)).filter((rank) => rank !== -1);
    expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
    expect(named.findLastIndex((path) => roles.includes(path))).toBe(ranks.length - 1);
  });

  test('one sign changed in any member is a mismatch, or the member is named as not covered', () => {
    for (const text of texts) {
      const unhashed = unhashedOf(text);
      for (const leaf of leavesOf(readWritten(text))) {
        const path = leaf.path.map((step) => (step.includes('.') ? JSON.stringify(step) : step)).join('.');
        const named = unhashed.some((other) => path === other || path.startsWith(`${other}.`));
        const outcome = outcomeOf(contract, changed(text, leaf));
        // A role that violates the contract is reported separately.
        expect([path, outcome === 'contract' ? named : outcome === 'same']).toEqual([path, named]);
      }
    }
  });

  test('a member added unseen would be named', () => {
    for (const text of texts) {
      const more = text.replace('{', '{"added":"1",');
      expect(outcomeOf(contract, more) === 'same').toBe(unhashedOf(more).includes('added'));
    }
  });
});
