import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readRoots } from '../../../src/core/timestamp/roots.ts';
import { type TokenVerdict, verifyToken } from '../../../src/core/timestamp/verify.ts';
import { someRows } from '../../support/some-rows.ts';
import { createAuthorities, eachOf, type FreshToken, freshToken, opensslAccepts } from '../../support/tsa-openssl.ts';

/** Number of tokens; run `TOKENS=500` once for a change of the verification. */
const TOKENS = Number(process.env['TOKENS'] ?? 60);
const FLIPPED = Math.ceil(TOKENS / 25);
const [EVERY = 10] = someRows([30, 10], () => 'every').slice(-1);
const AT_A_TIME = 4;

let folder: string;
let tokens: FreshToken[];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tokens-'));
  const authorities = await createAuthorities(folder);
  tokens = await eachOf(Array.from({ length: TOKENS }), AT_A_TIME, (_, number) => freshToken(authorities, number));
}, 600_000);

afterAll(() => rm(folder, { recursive: true, force: true }));

async function judge(token: FreshToken, der: Uint8Array = token.der): Promise<TokenVerdict> {
  const roots = readRoots(await readFile(token.rootFile, 'utf8'), token.rootFile);
  return verifyToken(der, { digest: token.digest, roots, now: new Date(), nonce: token.nonce });
}

describe(`${TOKENS} tokens, made by openssl a moment ago`, () => {
  test('openssl and we accept each of them', { timeout: 600_000 }, async () => {
    const verdicts = await eachOf(tokens, AT_A_TIME, async (token, number) => {
      const ours = await judge(token);
      const file = join(folder, `${number}.der`);
      await writeFile(file, token.der);
      const at = ours.says?.genTime ?? new Date(0);
      return { kind: token.kind, faults: ours.faults, theirs: await opensslAccepts(file, { ...token, at }) };
    });
    expect(verdicts).toHaveLength(TOKENS);
    expect(verdicts.filter(({ faults, theirs }) => faults.length > 0 || !theirs)).toEqual([]);
  });

  test('none is accepted for another digest, another nonce, another root', async () => {
    for (const token of tokens) {
      const other = tokens.find(({ rootFile }) => rootFile !== token.rootFile) ?? token;
      const changed = await judge({
        ...token,
        digest: token.digest.replace(/^./, (digit) => (digit === '0' ? '1' : '0')),
        nonce: token.nonce + 1n,
        rootFile: other.rootFile,
      });
      const codes = changed.faults.map(({ code }) => code);
      expect(codes).toEqual(['anchor/imprint-mismatch', 'anchor/nonce-mismatch', 'anchor/unknown-issuer']);
    }
  });

  test(`of ${FLIPPED}, every ${EVERY}th byte flipped: what we accept, openssl accepts`, {
    timeout: 600_000,
  }, async () => {
    const accepted: string[] = [];
    const wrong: string[] = [];
    let refused = 0;
    for (const token of tokens.slice(0, FLIPPED)) {
      const at = (await judge(token)).says?.genTime ?? new Date(0);
      const places = Array.from({ length: Math.ceil(token.der.length / EVERY) }, (_, index) => index * EVERY);
      await eachOf(places, AT_A_TIME, async (place) => {
        const der = Buffer.from(token.der);
        der.writeUInt8(der.readUInt8(place) ^ (place % 20 === 0 ? 0xff : 0x01), place);
        if (!(await judge(token, der)).valid) {
          refused++;
          return;
        }
        const file = join(folder, 'flipped.der');
        const own = `${file}.${place}`;
        await writeFile(own, der);
        const what = `${token.kind}, byte ${place}`;
        ((await opensslAccepts(own, { ...token, at })) ? accepted : wrong).push(what);
      });
    }
    expect(wrong).toEqual([]);
    // Bytes outside every signature may change, above all certificates that are not on the path.
    expect(accepted.length).toBeLessThan(refused);
    expect(refused).toBeGreaterThan((FLIPPED * 500) / EVERY);
  });
});
