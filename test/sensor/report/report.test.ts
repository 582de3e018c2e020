import { createHash, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalHead, type ReportHead, reportHeadOf, reportSha256 } from '../../../src/sensor/report/head.ts';
import {
  canonicalLine,
  type EndpointLine,
  type FileLine,
  faultInLine,
  pathBytes,
  toLinkTarget,
  toPathName,
} from '../../../src/sensor/report/line.ts';
import { MerkleTree } from '../../../src/sensor/report/merkle.ts';
import { LineRoot, partsOf } from '../../../src/sensor/report/root.ts';
import {
  isKeyProved,
  isReportSigned,
  proveKey,
  signReport,
  toPublicKeyText,
} from '../../../src/sensor/report/signature.ts';

const owned = { mode: '0755', uid: 0, gid: 0 };
const content = { type: 'file', sha256: 'ab'.repeat(32), size: 1, ...owned } as const;
const fileAt = (path: string | Buffer): FileLine => ({ ...toPathName(Buffer.from(path)), ...content });

const head: ReportHead = {
  format: 'evidence-endpoint-report/1',
  scan_id: '6f0e8f52-54f4-4bd2-8f3e-3d1f2a1f9a10',
  endpoint_id: 'e1',
  sequence: 2,
  previous_report_sha256: 'cd'.repeat(32),
  nonce: 'a nonce',
  boot_id: 'b1',
  started_at: '2026-01-01T00:00:00.000Z',
  finished_at: '2026-01-01T00:00:01.000Z',
  roots: ['/usr/bin'],
  complete: true,
  line_count: 1,
  root_hash: 'ef'.repeat(32),
  parts: 1,
};

describe('the root hash', () => {
  /** Leaves and roots of the reference implementation of Certificate Transparency. */
  const leaves = ['', '00', '10', '2021', '3031', '40414243', '5051525354555657', '606162636465666768696a6b6c6d6e6f'];
  const roots = [
    'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    '6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d',
    'fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125',
    'aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77',
    'd37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7',
    '4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4',
    '76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef',
    'ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c',
    '5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328',
  ];

  test('is that of RFC 6962 after each leaf', () => {
    const tree = new MerkleTree();
    const seen = [tree.root()];
    for (const leaf of leaves) {
      tree.add(Buffer.from(leaf, 'hex'));
      seen.push(tree.root());
    }
    expect(seen).toEqual(roots);
  });

  test('is that of the recursive definition for any number of leaves', () => {
    const digest = (...parts: Buffer[]) => createHash('sha256').update(Buffer.concat(parts)).digest();
    const defined = (all: Buffer[]): Buffer => {
      const [first] = all;
      if (first === undefined) return digest();
      if (all.length === 1) return digest(Buffer.of(0), first);
      const left = 2 ** Math.ceil(Math.log2(all.length) - 1);
      return digest(Buffer.of(1), defined(all.slice(0, left)), defined(all.slice(left)));
    };
    for (let count = 0; count <= 130; count++) {
      const all = Array.from({ length: count }, (_, at) => Buffer.from(`leaf ${at}`));
      const tree = new MerkleTree();
      for (const leaf of all) tree.add(leaf);
      expect(tree.root()).toBe(defined(all).toString('hex'));
    }
  });

  test('is over the texts of lines, which come by the bytes of their paths and not by UTF-16', () => {
    // U+FF5E sorts before U+1F600 in bytes, and after it in UTF-16.
    const lines = ['/a', '/a b', '/a/b', Buffer.from([0x2f, 0x61, 0x80]), '/a~', '/\u{ff5e}', '/\u{1f600}'].map(fileAt);
    const byBytes = lines.toSorted((one, other) => pathBytes(one).compare(pathBytes(other)));
    const root = new LineRoot();
    const tree = new MerkleTree();
    for (const line of byBytes) tree.add(root.add(line));
    expect([root.root(), root.count]).toEqual([tree.root(), lines.length]);
    expect(byBytes.slice(-2)).toEqual([fileAt('/\u{ff5e}'), fileAt('/\u{1f600}')]);
  });

  test.each([
    ['/b', '/a'],
    ['/a', '/a'],
    ['/\u{1f600}', '/\u{ff5e}'],
  ])('is of no lines in another order: %s, %s', (first, second) => {
    const root = new LineRoot();
    root.add(fileAt(first));
    expect(() => root.add(fileAt(second))).toThrow('line 2 is out of order');
    expect(root.count).toBe(1);
  });
});

describe('a line', () => {
  test('has the bytes of its path, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ min: 1, max: 255, minLength: 1 }), (bytes) => {
        const path = Buffer.concat([Buffer.from('/'), bytes.map((byte) => (byte === 0x2f ? 0x41 : byte))]);
        const name = toPathName(path);
        expect(pathBytes(name)).toEqual(path);
        const line = { ...name, type: 'link', ...toLinkTarget(Buffer.from(bytes)), ...owned } as EndpointLine;
        fc.pre(!/^\/\.{1,2}$/.test(path.toString('latin1')));
        expect(faultInLine(line)).toBe(null);
      }),
    );
  });

  test('is written in one way', () => {
    const line = { size: 1, type: 'file', sha256: 'ab', gid: 0, path: '/bin/\u001b\n"', uid: 0, mode: '4755' } as const;
    expect(canonicalLine(line)).toBe(
      '{"gid":0,"mode":"4755","path":"/bin/\\u001b\\n\\"","sha256":"ab","size":1,"type":"file","uid":0}',
    );
  });

  const base64 = (bytes: Buffer | string) => Buffer.from(bytes).toString('base64');
  test.each<[string, object, RegExp]>([
    ['relative', { path: 'bin/ls' }, /does not begin with/],
    ['empty', { path: '' }, /does not begin with/],
    ['with a zero byte', { path: '/a\0b' }, /zero byte/],
    ['with a lone surrogate', { path: '/\ud800' }, /lone surrogate/],
    ['with a folder twice', { path: '/a//b' }, /shortest form/],
    ['with a dot', { path: '/a/./b' }, /shortest form/],
    ['that climbs', { path: '/a/..' }, /shortest form/],
    ['that ends with a slash', { path: '/a/' }, /shortest form/],
    ['that is UTF-8, as base64', { path_base64: base64('/a') }, /belongs in path/],
    [
      'with base64 that has more than one form',
      { path_base64: base64(Buffer.of(0x2f, 0xff)).replace('=', '') },
      /not canonical/,
    ],
  ])('with a path %s is none', (_name, name, fault) => {
    expect(faultInLine({ ...name, ...content } as EndpointLine)).toMatch(fault);
  });

  test('with a target that is UTF-8, as base64, is none', () => {
    const link = { path: '/a', type: 'link', target_base64: base64('b'), ...owned } as const;
    expect(faultInLine(link)).toBe('target_base64 is UTF-8, which belongs in target');
  });
});

test.each([
  [0, 1],
  [1, 1],
  [2000, 1],
  [2001, 2],
  [60_000, 30],
])('%i lines are sent in parts: %i', (lines, parts) => {
  expect(partsOf(lines)).toBe(parts);
});

describe('a report', () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const key = toPublicKeyText(publicKey);
  const signature = signReport(head, privateKey);

  test('is named by all that its head says, and by nothing that is sent beside it', () => {
    const body = { lines: [], part: 1, signature, ...head };
    expect(reportHeadOf(body)).toEqual(head);
    expect(reportSha256(reportHeadOf(body))).toBe(createHash('sha256').update(canonicalHead(head)).digest('hex'));
    const changed = Object.keys(head).map((name) => reportSha256({ ...head, [name]: 'another' }));
    expect(new Set([reportSha256(head), ...changed]).size).toBe(Object.keys(head).length + 1);
  });

  test('is signed by who has the key', () => {
    expect(isReportSigned(head, signature, key)).toBe(true);
  });

  const other = toPublicKeyText(generateKeyPairSync('ed25519').publicKey);
  const flipped = Buffer.from(signature, 'base64').map((byte, at) => (at === 5 ? byte ^ 1 : byte));
  test.each<[string, ReportHead, string, string]>([
    ['another head', { ...head, root_hash: '00'.repeat(32) }, signature, key],
    ['another key', head, signature, other],
    ['a changed signature', head, Buffer.from(flipped).toString('base64'), key],
    ['a signature that was cut', head, signature.slice(0, 80), key],
    ['a signature in another form', head, `${signature} `, key],
    ['no signature', head, '', key],
    ['no key', head, signature, ''],
    ['a key that is no point of the curve', head, signature, Buffer.alloc(32, 0xff).toString('base64')],
  ])('is not signed: %s', (_name, said, by, whose) => {
    expect(isReportSigned(said, by, whose)).toBe(false);
  });

  test('says nothing for a key, and a key is proved for one endpoint and nonce', () => {
    const claim = { endpoint_id: 'e1', nonce: 'n1', public_key: key };
    const proof = proveKey(claim, privateKey);
    expect(isKeyProved(claim, proof)).toBe(true);
    expect(isKeyProved({ ...claim, endpoint_id: 'e2' }, proof)).toBe(false);
    expect(isKeyProved({ ...claim, nonce: 'n2' }, proof)).toBe(false);
    expect(isKeyProved({ ...claim, public_key: other }, proof)).toBe(false);
    expect(isKeyProved(claim, signature)).toBe(false);
  });
});
