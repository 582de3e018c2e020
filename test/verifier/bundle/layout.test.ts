import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import {
  bagInfoText,
  bundleFileName,
  identityOf,
  missingFileName,
  parseBagInfo,
  payloadOxum,
  slugOf,
} from '../../../src/verifier/bundle/layout.ts';
import { manifestText, parseManifest } from '../../../src/verifier/bundle/manifest.ts';
import { collisionKey, isPortablePath, whyUnsafe } from '../../../src/verifier/bundle/path.ts';

const sha256sum = (text: string) => execFileSync('sha256sum', { input: text }).toString().slice(0, 64);

describe('slugOf', () => {
  it.each([
    ['payments', 'payments'],
    ['Payments', 'payments'],
    ['acme/prod: EU', 'acme-prod-eu'],
    ['../../etc/passwd', 'etc-passwd'],
    ['.hidden', 'hidden'],
    ['-rf', 'rf'],
    ['ends.', 'ends'],
    ['a..b', 'a.b'],
    ['Zürich Öl', 'zurich-ol'],
    ['日本語', 'stream'],
    ['', 'stream'],
    ['...', 'stream'],
    ['con', '_con'],
    ['NUL.txt', '_nul.txt'],
    ['com1.log', '_com1.log'],
    ['console', 'console'],
    ['a\nb\u0000c', 'a-b-c'],
    ['x'.repeat(300), 'x'.repeat(59)],
  ])('of %j reads as %j, then the id’s digest', (id, readable) => {
    expect(slugOf(id)).toBe(`${readable}-${sha256sum(id).slice(0, 8)}`);
    expect(isPortablePath(slugOf(id))).toBe(true);
  });

  it('tells apart what looks the same', () => {
    const ids = ['a', 'A', 'a ', 'ａ', 'á', 'a\u0301', 'a/', '日', '本', '\ud800', '\ud801', '\ufffd'];
    expect(new Set(ids.map((id) => slugOf(id).toLowerCase())).size).toBe(ids.length);
  });
});

it('labels a partial bundle in its name', () => {
  expect(bundleFileName('s-12345678', 'COMPLETE')).toBe('s-12345678.zip');
  expect(bundleFileName('s-12345678', 'PARTIAL')).toBe('s-12345678.PARTIAL.zip');
});

it('names a missing form, and only by a safe name', () => {
  expect(missingFileName('pdf')).toBe('_MISSING_pdf.txt');
  for (const form of ['', '../x', 'a/b', 'a b']) expect(() => missingFileName(form)).toThrow(TypeError);
});

describe('bag-info.txt', () => {
  it.each(['a\nEvidence-Status: COMPLETE', 'a\r\nb', 'a\u2028b', 'a\u0085b', '100%', '%0A', 'päy'])(
    'cannot be given a field by the value %j',
    (value) => {
      const fields: [string, string][] = [
        ['Evidence-Status', 'PARTIAL'],
        ['External-Identifier', value],
      ];
      const text = bagInfoText(fields);
      expect(text.split(/[\n\r\u0085\u2028\u2029]/)).toHaveLength(3);
      expect(parseBagInfo(text)).toEqual(fields);
    },
  );

  it('is read with folded lines, and not when it is something else', () => {
    expect(parseBagInfo('A: one\n  two\r\nB:x\n')).toEqual([
      ['A', 'one two'],
      ['B', 'x'],
    ]);
    expect(parseBagInfo('no field')).toBeNull();
    expect(parseBagInfo(': nameless')).toBeNull();
  });

  it('refuses a label that is none', () => {
    expect(() => bagInfoText([['A: b\nC', 'x']])).toThrow(TypeError);
  });
});

it('counts the payload as RFC 8493 does', () => {
  expect(payloadOxum([{ bytes: 3 }, { bytes: 0 }, { bytes: 39 }])).toBe('42.3');
});

it('identifies a bundle by its manifest as sha256sum would', () => {
  expect(identityOf('text\n')).toBe(sha256sum('text\n'));
});

describe('a manifest', () => {
  const digest = 'ab'.repeat(32);

  it('is sorted, and encodes what would break its lines', () => {
    const text = manifestText([
      { path: 'data/b', sha256: digest },
      { path: 'data/50%\r\n', sha256: digest },
    ]);
    expect(text).toBe(`${digest}  data/50%25%0D%0A\n${digest}  data/b\n`);
    expect([...parseManifest(text).digests.keys()]).toEqual(['data/50%\r\n', 'data/b']);
    expect(parseManifest(text).flaws).toEqual([]);
  });

  it.each([
    [`${digest} data/a\n`, 'line 1 is not'],
    [`${digest} *data/a\n`, 'line 1 is not'],
    [`${digest.toUpperCase()}  data/a\n`, 'line 1 is not'],
    [`${digest.slice(1)}  data/a\n`, 'line 1 is not'],
    [`${digest}  data/a\r\n`, 'line 1 is not'],
    [`${digest}  data/a`, 'the last line'],
    [`${digest}  data/a\n\n`, 'line 2 is not'],
    [`${digest}  data/a\n${digest}  data/a\n`, 'line 2 names "data/a" a second time'],
    [`\ufeff${digest}  data/a\n`, 'line 1 is not'],
  ])('%j is refused', (text, flaw) => {
    expect(parseManifest(text).flaws.join()).toContain(flaw);
  });
});

describe('names', () => {
  it.each([
    '/a',
    'C:/a',
    'c:a',
    '../a',
    'a/../b',
    'a/..',
    './a',
    'a//b',
    'a\\b',
    'a\nb',
    'a\u202eb',
    '',
    '/',
    'x'.repeat(2000),
  ])('%j is dangerous to extract', (name) => {
    expect(whyUnsafe(name)).toBeTypeOf('string');
  });

  it.each(['a', 'a/b', 'a/', '..a', 'a..b/c', 'päy'])('%j is not', (name) => {
    expect(whyUnsafe(name)).toBeUndefined();
  });

  it.each([
    ['a/B', 'A/b'],
    ['caf\u00e9', 'cafe\u0301'],
    ['straße', 'STRASSE'],
  ])('%j and %j are one file somewhere', (one, other) => {
    expect(collisionKey(one)).toBe(collisionKey(other));
  });

  it.each(['', '.a', 'a/.b', 'a.', '-a', 'a b', 'a%b', 'ä', 'a//b', 'x'.repeat(201)])('%j is not portable', (path) => {
    expect(isPortablePath(path)).toBe(false);
  });
});
