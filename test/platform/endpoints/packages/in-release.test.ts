import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readInRelease, refuseUnlessKeyring } from '../../../../src/platform/endpoints/packages/in-release.ts';
import { AptRoot } from './apt-root.ts';
import { DebianArchive } from './debian-archive.ts';
import { type GpgTime, SigningKey } from './signing-key.ts';

const LONG_AGO: GpgTime = '20240101T000000';

let archive: DebianArchive;
let key: SigningKey;
let stranger: SigningKey;
let expired: SigningKey;
let revoked: SigningKey;
let release: string;
let good: string;
let revokedText: string;
beforeAll(async () => {
  archive = new DebianArchive();
  key = new SigningKey({ made: LONG_AGO });
  stranger = new SigningKey({ name: 'Somebody Else' });
  expired = new SigningKey({ made: LONG_AGO, goodFor: '10d' });
  revoked = new SigningKey();
  await archive.add({ entries: [{ name: './usr/bin/tool', content: 'x' }] });
  release = archive.release(archive.index);
  good = key.sign(release);
  revokedText = revoked.sign(release);
  revoked.revoke();
  archive.publish(key);
});
afterAll(() => {
  for (const made of [archive, key, stranger, expired, revoked]) made.remove();
});

async function read(text: string, keyring = key.keyring) {
  const path = join(archive.suite, 'read');
  writeFileSync(path, text, 'latin1');
  return await readInRelease(path, keyring);
}

const SIGNATURE = '-----BEGIN PGP SIGNATURE-----\n\n';

function signatureIn(text: string): string {
  return text.slice(text.indexOf(SIGNATURE) + SIGNATURE.length, text.indexOf('-----END PGP SIGNATURE'));
}

/** Joins the packets of several signatures after one text, as archives with several keys do. */
function joined(...texts: readonly string[]): string {
  const packets = texts.map((text) => Buffer.from(signatureIn(text).replace(/^=.*$/m, ''), 'base64'));
  const armored = Buffer.concat(packets).toString('base64').replace(/.{64}/g, '$&\n');
  const [first = ''] = texts;
  return `${first.slice(0, first.indexOf(SIGNATURE) + SIGNATURE.length)}${armored}\n-----END PGP SIGNATURE-----\n`;
}

/** Changes one byte of a text. */
function changedAt(text: string, place: number): string {
  const other = text[place] === 'A' ? 'B' : 'A';
  return text.slice(0, place) + other + text.slice(place + 1);
}

interface Forgery {
  words: string;
  why: RegExp;
  text: () => string;
  by?: () => SigningKey;
}

const FORGERIES: readonly Forgery[] = [
  { words: 'of a stranger', why: /its key is not in the keyring/, text: () => stranger.sign(release) },
  {
    words: 'of an expired key',
    why: /the key has expired/,
    text: () => expired.sign(release, { at: LONG_AGO }),
    by: () => expired,
  },
  { words: 'of a revoked key', why: /the key is revoked/, text: () => revokedText, by: () => revoked },
  {
    words: 'expired by itself',
    why: /the signature has expired/,
    text: () => key.sign(release, { at: LONG_AGO, goodFor: '1d' }),
  },
  { words: 'over SHA-1', why: /its digest is weak/, text: () => key.sign(release, { digest: 'SHA1' }) },
  { words: 'over RIPEMD-160', why: /its digest is weak/, text: () => key.sign(release, { digest: 'RIPEMD160' }) },
  {
    words: 'of another text beside a good one',
    why: /does not match the text/,
    text: () => joined(good, key.sign(`${release} x`)),
  },
  { words: 'not there at all', why: /does not begin with/, text: () => release },
  {
    words: 'around the text, as a message',
    why: /does not begin with/,
    text: () => key.sign(release, { form: '--sign' }),
  },
  { words: 'of no text', why: /does not begin with/, text: () => key.sign(release, { form: '--detach-sign' }) },
  { words: 'twice over two texts', why: /not exactly one signed message/, text: () => good + good },
  { words: 'after other text', why: /does not begin with/, text: () => `Origin: Else\n${good}` },
  { words: 'before other text', why: /continues after/, text: () => `${good}Origin: Else\n` },
  { words: 'cut off', why: /not exactly one signed message/, text: () => good.slice(0, -40) },
  { words: 'empty', why: /no valid signature/, text: () => good.replace(signatureIn(good), '') },
  {
    words: 'under a text with control characters',
    why: /control characters/,
    text: () => key.sign(`${release}X: a\0b\n`),
  },
  {
    words: 'below a header of another kind',
    why: /header before/,
    text: () => good.replace('Hash: SHA256', 'Origin: Else'),
  },
];

test('what one key of the keyring signed is read, whoever signed it besides', async () => {
  const signedBy = [`Test Archive ${key.fingerprint}`];
  const alone = await read(good);
  expect(alone).toMatchObject({ text: release, signedBy });
  expect(await read(joined(good, stranger.sign(release)))).toMatchObject({ text: release, signedBy });
});

test.each(FORGERIES)('a signature $words is refused', async ({ text, why, by = () => key }) => {
  await expect(read(text(), by().keyring)).rejects.toThrow(why);
});

test('one byte that is changed anywhere is refused', async () => {
  const step = Math.ceil(good.length / 97);
  const places = Array.from({ length: Math.ceil(good.length / step) }, (_, n) => n * step);
  const atEdges = ['-----BEGIN', 'Hash:', '\nOrigin', '\nSHA256:', 'Packages\n', SIGNATURE, '\n=', '-----END'].map(
    (mark) => good.indexOf(mark),
  );
  for (const place of [...places, ...atEdges, good.length - 1]) {
    const said = await read(changedAt(good, place)).then(
      () => 'taken',
      () => 'refused',
    );
    expect(`${said} with a change at ${place}: ${JSON.stringify(good.slice(place, place + 20))}`).toMatch(/^refused/);
  }
});

test('apt judges alike', () => {
  const apt = new AptRoot();
  try {
    const roots = FORGERIES.map(({ text }, number) => {
      const root = join(apt.root, `mirror-${number}-`);
      mkdirSync(join(root, 'dists/test'), { recursive: true });
      writeFileSync(join(root, 'dists/test/InRelease'), text(), 'latin1');
      return root;
    });
    const keys = FORGERIES.map(({ by = () => key }) => by());
    const all = [...roots, archive.root];
    const said = apt.update(
      all.map((root, number) => `deb [signed-by=${(keys[number] ?? key).keyring}] file:${root} test main`),
    );
    const isRefused = (root: string) => new RegExp(`^(Err:|E:|W:).*${root} `, 'm').test(said);
    expect(all.filter((root) => !isRefused(root))).toEqual([archive.root]);
  } finally {
    apt.remove();
  }
});

describe('a keyring', () => {
  test.each([
    ['that is not there', '/nonexistent/keys.gpg', /cannot be read/],
    ['that is armored', () => key.gpg(['--armor', '--export']), /is not a binary keyring/],
    ['that is empty', () => Buffer.alloc(0), /is not a binary keyring/],
  ] as const)('%s is refused', async (_words, content, why) => {
    const path = typeof content === 'string' ? content : join(archive.root, 'keys');
    if (typeof content !== 'string') writeFileSync(path, content());
    await expect(refuseUnlessKeyring(path)).rejects.toThrow(why);
  });
});
