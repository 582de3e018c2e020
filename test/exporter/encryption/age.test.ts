import { execFileSync } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { decryptFile, encryptFile } from '../../../src/verifier/encryption/age.ts';
import { readIdentities, readRecipients } from '../../../src/verifier/encryption/keys.ts';
import { ageKey } from '../../support/age.ts';

const folder = mkdtempSync(join(tmpdir(), 'age-test-'));
const ours = ageKey(folder, 'ours');
const theirs = ageKey(folder, 'theirs');
const signal = new AbortController().signal;
let files = 0;
const path = () => join(folder, `file-${files++}`);

const contentOf = (bytes: Uint8Array) => ({
  bytes: bytes.length,
  sha256: createHash('sha256').update(bytes).digest('hex'),
});

async function encrypted(plain: Uint8Array, ...names: string[]): Promise<string> {
  const [source, target] = [path(), path()];
  writeFileSync(source, plain);
  const content = await encryptFile(source, target, readRecipients(names, 'r'), contentOf(plain), signal);
  expect(content).toEqual(contentOf(readFileSync(target)));
  return target;
}

const identityOf = ({ file }: { file: string }) => readIdentities([{ text: readFileSync(file, 'utf8'), source: file }]);

/** Block size of age: 64 KiB. */
const BLOCK = 65_536;

describe.each([0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 1_000_000])('%i bytes', (length) => {
  const plain = randomBytes(length);

  test("are decrypted by Debian's age, for each recipient", async () => {
    const file = await encrypted(plain, ours.recipient, theirs.recipient);
    for (const { file: identity } of [ours, theirs])
      expect(execFileSync('age', ['-d', '-i', identity, file], { maxBuffer: 1e8 }).equals(plain)).toBe(true);
  });

  test("that Debian's age encrypted are decrypted, into a file for this user alone", async () => {
    const [source, file, target] = [path(), path(), path()];
    writeFileSync(source, plain);
    execFileSync('age', ['-r', ours.recipient, '-o', file, source]);
    expect(await decryptFile(file, target, identityOf(ours))).toEqual(contentOf(plain));
    expect(readFileSync(target).equals(plain)).toBe(true);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(await decryptFile(file, path(), identityOf(theirs))).toBeNull();
  });
});

test('a file with one byte edited, wherever it is, or that was cut, is refused', async () => {
  const file = await encrypted(randomBytes(2 * BLOCK), ours.recipient);
  const bytes = readFileSync(file);
  const header = bytes.indexOf('\n--- ') + 5;
  const places = [0, 25, 40, header - 20, header + 3, header + 60, header + 70, bytes.length >> 1, bytes.length - 1];
  for (const place of places) {
    const edited = Buffer.from(bytes);
    edited[place] = (edited[place] ?? 0) ^ 1;
    const copy = path();
    writeFileSync(copy, edited);
    const result = await decryptFile(copy, path(), identityOf(ours)).catch((error: unknown) => error);
    // An edit to the recipient's stanza may leave the file without a recipient here.
    const isRecipients = place > 21 && place < header - 4 && result === null;
    expect([place, isRecipients || result]).toEqual([
      place,
      isRecipients || expect.objectContaining({ code: 'unreadable' }),
    ]);
  }
  for (const length of [0, 10, header, header + 80, header + 80 + BLOCK, bytes.length - 1]) {
    const copy = path();
    writeFileSync(copy, bytes.subarray(0, length));
    await expect(decryptFile(copy, path(), identityOf(ours))).rejects.toMatchObject({ code: 'unreadable' });
  }
});

test('a header without end is not read to its end', async () => {
  const copy = path();
  writeFileSync(copy, `age-encryption.org/v1\n-> ${'x'.repeat(3 * 2 ** 20)}\n--- `);
  const refused = decryptFile(copy, path(), identityOf(ours));
  await expect(refused).rejects.toMatchObject({ message: 'is not a file that age encrypted' });
});

test('what does not decrypt to what was to be encrypted is refused', async () => {
  const [source, target] = [path(), path()];
  writeFileSync(source, 'changed since');
  const expected = contentOf(Buffer.from('packed'));
  const refused = encryptFile(source, target, readRecipients([ours.recipient], 'r'), expected, signal);
  await expect(refused).rejects.toMatchObject({ code: 'unreadable' });
});

test.each([
  ['nothing', 'age1', /r\[1\] is not a recipient of age: "age1"/],
  ['one with a letter changed', ours.recipient.replace(/.$/, (end) => (end === 'q' ? 'p' : 'q')), /r\[1\] is not/],
  ['that of a plugin', 'age1yubikey1qwerty', /r\[1\] is not/],
  ['an SSH key', 'ssh-ed25519 AAAA', /r\[1\] is not/],
])('%s is no recipient, and is named', (_what, name, words) => {
  expect(() => readRecipients([ours.recipient, name], 'r')).toThrow(words);
});

test('a secret key that is given as a recipient is not repeated', () => {
  const secret = /AGE-SECRET-KEY-\S+/.exec(readFileSync(ours.file, 'utf8'))?.[0] ?? '';
  for (const given of [secret, secret.toLowerCase(), ` ${secret}`]) {
    let message = '';
    try {
      readRecipients([given], 'r');
    } catch (error) {
      message = JSON.stringify(error, Object.getOwnPropertyNames(error));
    }
    expect(message).toMatch(/is a secret key/);
    expect(message.toLowerCase()).not.toContain(secret.toLowerCase().slice(16));
  }
});

test.each(['', '# created\n', 'AGE-SECRET-KEY-1QQQ\n', '-----BEGIN AGE ENCRYPTED FILE-----\n'])(
  'a file of %j holds no identity',
  (text) => {
    expect(() => readIdentities([{ text, source: 'FILE' }])).toThrow(/^FILE is not a file of age identities$/);
  },
);

test('identities show nobody what they hold', () => {
  const identities = identityOf(ours);
  expect(existsSync(ours.file)).toBe(true);
  expect(`${JSON.stringify(identities)}${String(identities)}`).not.toMatch(/SECRET/);
});
