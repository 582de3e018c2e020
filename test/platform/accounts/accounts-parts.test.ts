import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { hashPassword, isPassword } from '../../../src/platform/accounts/password.ts';
import { base32, newTotpSecret, totpCode, totpLink, totpStep } from '../../../src/platform/accounts/totp.ts';
import { newToken, SecretBox, tokenDigest } from '../../../src/platform/secrets.ts';

/** Cost far below the stored one. */
const CHEAP = { log2N: 10, r: 8, p: 1 };

describe('a password', () => {
  test('is known again, and no other is', async () => {
    const stored = await hashPassword('correct horse battery', CHEAP);
    expect(stored).toMatch(/^scrypt\$10\$8\$1\$[\w-]{22}\$[\w-]{43}$/);
    expect(stored).not.toContain('horse');
    expect(await isPassword('correct horse battery', stored)).toBe(true);
    for (const other of ['correct horse batter', 'Correct horse battery', '', 'correct horse battery '])
      expect(await isPassword(other, stored), other).toBe(false);
  });

  test('is stored differently each time', async () => {
    expect(await hashPassword('the same', CHEAP)).not.toBe(await hashPassword('the same', CHEAP));
  });

  test('is the same however its letters are put together', async () => {
    const stored = await hashPassword('pa\u0073sw\u00f6rt for all', CHEAP);
    expect(await isPassword('passwo\u0308rt for all', stored)).toBe(true);
  });

  test('is that of nobody where there is nobody, and costs as much as that of somebody', async () => {
    const time = async (stored: string | null) => {
      const began = process.cpuUsage();
      expect(await isPassword('x', stored)).toBe(false);
      return process.cpuUsage(began).user;
    };
    const stored = await hashPassword('somebody has this one');
    expect(stored).toMatch(/^scrypt\$17\$8\$1\$/);
    const [nobody, somebody] = [await time(null), await time(stored)];
    expect(nobody / somebody).toBeGreaterThan(0.5);
    expect(nobody / somebody).toBeLessThan(2);
  });

  test('that is stored in another form is a defect, and not a wrong password', async () => {
    await expect(isPassword('x', 'md5$abc')).rejects.toThrow('an unknown format');
  });

  test('many at once are all answered', async () => {
    const stored = await hashPassword('one of many', CHEAP);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => isPassword(at % 2 ? 'one of many' : 'x', stored)),
    );
    expect(answers).toEqual(Array.from({ length: 20 }, (_, at) => at % 2 === 1));
  });
});

describe('a second factor', () => {
  // RFC 6238, appendix B, the last six of eight digits.
  const secret = Buffer.from('12345678901234567890');
  test.each([
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_111_111_111, '050471'],
    [1_234_567_890, '005924'],
    [2_000_000_000, '279037'],
    [20_000_000_000, '353130'],
  ])('at %i s has the code of the RFC', (seconds, code) => {
    expect(totpCode(secret, Math.floor(seconds / 30))).toBe(code);
    expect(totpStep(secret, code, new Date(seconds * 1000), 0)).toBe(Math.floor(seconds / 30));
  });

  test('is taken from the step before to the step after, each code once', () => {
    const now = new Date(1_111_111_109_000);
    const step = Math.floor(now.getTime() / 30_000);
    const taken = [-2, -1, 0, 1, 2].map((by) => totpStep(secret, totpCode(secret, step + by), now, 0));
    expect(taken).toEqual([null, step - 1, step, step + 1, null]);
    expect(totpStep(secret, totpCode(secret, step), now, step)).toBeNull();
    expect(totpStep(secret, totpCode(secret, step + 1), now, step)).toBe(step + 1);
  });

  test.each(['', '0', '81804', '0818040', '08180x', '０８１８０４'])('%j is no code', (code) => {
    expect(totpStep(secret, code, new Date(1_111_111_109_000), 0)).toBeNull();
  });

  test('is handed to an authenticator as it reads it', () => {
    // RFC 4648, section 10.
    for (const [text, encoded] of [
      ['', ''],
      ['f', 'MY'],
      ['fo', 'MZXQ'],
      ['foo', 'MZXW6'],
      ['foob', 'MZXW6YQ'],
      ['fooba', 'MZXW6YTB'],
      ['foobar', 'MZXW6YTBOI'],
    ] as const)
      expect(base32(Buffer.from(text))).toBe(encoded);
    expect(totpLink(secret, 'Acme Ltd', 'a@b.example')).toBe(
      'otpauth://totp/Acme%20Ltd:a%40b.example?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&issuer=Acme+Ltd&algorithm=SHA1&digits=6&period=30',
    );
    expect(newTotpSecret()).toHaveLength(20);
  });
});

describe('secrets', () => {
  test('a token is known by its digest, and no two are alike', () => {
    const { text, sha256 } = newToken();
    expect(tokenDigest(text)).toBe(sha256);
    expect(text).toMatch(/^[\w-]{43}$/);
    expect(newToken().text).not.toBe(text);
  });

  test('what is sealed opens for its owner, by this key, and unchanged', () => {
    const box = new SecretBox(randomBytes(32), 'accounts/secrets');
    const sealed = box.seal(Buffer.from('secret'), 'person-1');
    expect(sealed.toString('latin1')).not.toContain('secret');
    expect(box.open(sealed, 'person-1').toString()).toBe('secret');
    expect(() => box.open(sealed, 'person-2')).toThrow();
    expect(() => new SecretBox(randomBytes(32), 'accounts/secrets').open(sealed, 'person-1')).toThrow();
    for (let at = 0; at < sealed.length; at++) {
      const other = Buffer.from(sealed);
      other.writeUInt8((other.readUInt8(at) ^ 1) & 0xff, at);
      expect(() => box.open(other, 'person-1'), String(at)).toThrow();
    }
  });
});
