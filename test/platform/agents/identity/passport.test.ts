import { createPublicKey } from 'node:crypto';
import { generalVerify, importJWK } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { SIGNATURE_ALGORITHMS } from '../../../../src/platform/agents/enums.ts';
import type { AgentPublicKeys, PublicJwk } from '../../../../src/platform/agents/identity/identity-rows.ts';
import type { GeneralJws } from '../../../../src/platform/agents/identity/tokens.ts';
import { DAY, IssuingPlace } from './issuing-place.ts';
import { verifyPassport } from './passport-verification.ts';

const ISSUER = 'https://platform.example/agents';
/** Critical header parameters that the verifier supports. */
const CRIT = { required_algs: true };

let place: IssuingPlace;
let issued: Awaited<ReturnType<IssuingPlace['issued']>>;
let keys: PublicJwk[];
let jws: GeneralJws;

beforeAll(async () => {
  place = await IssuingPlace.open();
  issued = await place.issued();
  ({ keys } = await place.issuer.published.jwks());
});

beforeEach(() => {
  jws = JSON.parse(issued.identity.passport.jws) as GeneralJws;
});

afterAll(() => place.close());

const own = (now = place.now, more: object = {}) =>
  verifyPassport(jws, { keys, issuer: ISSUER, now: new Date(now), ...more });

/** Verifies one signature of the passport with jose. */
function joseVerifies(index: number, crit: { [name: string]: boolean } = CRIT) {
  const one = { payload: jws.payload, signatures: jws.signatures.slice(index, index + 1) };
  const find = (header: { kid?: string; alg?: string } | undefined) =>
    importJWK(keys.find(({ kid }) => kid === header?.kid) ?? {}, header?.alg);
  return generalVerify(one, find, { crit });
}

/** Changes one letter of a base64url text. */
function turned(text: string): string {
  const at = text.length >> 1;
  return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
}

describe('jose', () => {
  test.each([0, 1])('verifies signature %i', async (index) => {
    const { payload, protectedHeader } = await joseVerifies(index);
    expect(protectedHeader).toMatchObject({
      alg: SIGNATURE_ALGORITHMS[index],
      typ: 'agent-passport+json',
      crit: ['required_algs'],
      required_algs: ['EdDSA', 'ML-DSA-65'],
    });
    const claims = JSON.parse(Buffer.from(payload).toString());
    expect(claims).toMatchObject({
      iss: ISSUER,
      sub: issued.identity.quantum_identity.did,
      jti: issued.identity.passport.jti,
      agent_id: issued.agent.agent_id,
      composition_sha256: issued.agent.composition,
      iat: place.now / 1000,
      exp: (place.now + 365 * DAY) / 1000,
      status_url: `${ISSUER}/api/v1/public/verify-agent/${issued.agent.agent_id}`,
    });
  });

  test.each([0, 1])('refuses signature %i that was altered', async (index) => {
    const signature = jws.signatures[index];
    if (signature === undefined) throw new Error('there are two signatures');
    signature.signature = turned(signature.signature);
    await expect(joseVerifies(index)).rejects.toThrow('signature verification failed');
  });

  test.each([0, 1])('that does not understand what is critical refuses signature %i', async (index) => {
    await expect(joseVerifies(index, {})).rejects.toThrow('signature verification failed');
  });
});

describe('our verifier', () => {
  test('accepts a passport with both signatures', () => {
    expect(own()).toMatchObject({ accepted: true, claims: { agent_id: issued.agent.agent_id } });
  });

  test.each([
    ['EdDSA', 'ML-DSA-65'],
    ['ML-DSA-65', 'EdDSA'],
  ] as const)('that knows %s only says so and does not accept', (known, unknown) => {
    expect(own(place.now, { algorithms: [known] })).toEqual({
      accepted: false,
      reasons: [`this verifier does not know ${unknown}, and the passport counts with both signatures only`],
    });
  });

  test.each([
    ['EdDSA', 0],
    ['ML-DSA-65', 1],
  ] as const)(
    'refuses a passport whose signature by %s is altered, is another one, or is not there',
    async (alg, index) => {
      const untouched = structuredClone(jws);
      const signature = jws.signatures[index] ?? { protected: '', signature: '' };
      signature.signature = turned(signature.signature);
      expect(own()).toEqual({ accepted: false, reasons: [`the signature by ${alg} does not hold`] });

      const other = JSON.parse((await place.issued()).identity.passport.jws) as GeneralJws;
      jws.signatures[index] = other.signatures[index] ?? signature;
      expect(own()).toEqual({ accepted: false, reasons: [`the signature by ${alg} does not hold`] });

      jws = { ...untouched, signatures: untouched.signatures.toSpliced(index, 1) };
      expect(own()).toEqual({ accepted: false, reasons: [`the passport has 0 signatures by ${alg}, not one`] });
    },
  );

  test.each<[name: string, alter: (header: Record<string, unknown>) => void, reason: string]>([
    ['that requires one algorithm only', (h) => Object.assign(h, { required_algs: ['EdDSA'] }), 'require both'],
    ['in which that is not critical', (h) => delete h['crit'], 'require both'],
    ['of another kind of message', (h) => Object.assign(h, { typ: 'statuslist+jwt' }), 'of no passport'],
    ['by a key of somebody else', (h) => Object.assign(h, { kid: 'x' }), 'a key that the issuer does not have'],
    ['by both keys at once', (h) => Object.assign(h, { alg: 'ML-DSA-65' }), 'has 0 signatures by EdDSA'],
  ])('refuses a header %s', (_name, alter, reason) => {
    const [first] = jws.signatures;
    const header = JSON.parse(Buffer.from(first?.protected ?? '', 'base64url').toString());
    alter(header);
    if (first) first.protected = Buffer.from(JSON.stringify(header)).toString('base64url');
    const verdict = own();
    expect(verdict.accepted).toBe(false);
    expect(JSON.stringify(verdict)).toContain(reason);
  });

  test('refuses altered claims', () => {
    jws.payload = Buffer.from(
      Buffer.from(jws.payload, 'base64url').toString().replace('supervised', 'autonomous'),
    ).toString('base64url');
    expect(own()).toEqual({
      accepted: false,
      reasons: SIGNATURE_ALGORITHMS.map((algorithm) => `the signature by ${algorithm} does not hold`),
    });
  });

  test.each([
    ['before its time', -2 * DAY, {}, 'it is not valid yet'],
    ['after its time', 366 * DAY, {}, 'it is not valid any more'],
    ['of another issuer', 0, { issuer: 'https://other.example/agents' }, 'it is of another issuer'],
  ])('refuses a passport %s', (_name, later, more, reason) => {
    expect(own(place.now + later, more)).toEqual({ accepted: false, reasons: [reason] });
  });

  test.each<[name: string, shown: unknown]>([
    ['nothing', null],
    ['a text', 'eyJ'],
    ['no signatures', {}],
    ['an empty list of signatures', { payload: '', signatures: [] }],
    ['a signature that is null', { payload: '', signatures: [null] }],
    ['no JSON in a header', { payload: '', signatures: [{ protected: 'x', signature: '' }] }],
    ['null in a header', { payload: '', signatures: [{ protected: 'bnVsbA', signature: '' }] }],
  ])('refuses %s', (_name, shown) => {
    const verdict = verifyPassport(shown, { keys, issuer: ISSUER, now: new Date(place.now) });
    expect(verdict).toMatchObject({ accepted: false, reasons: expect.arrayContaining([expect.any(String)]) });
  });

  test('refuses a header that nothing protects', () => {
    const [first] = jws.signatures;
    if (first) Object.assign(first, { header: { b64: false } });
    expect(own()).toMatchObject({ accepted: false });
  });
});

test('keys in the passport are those that the agent was given', () => {
  const { public_keys, private_keys_once } = issued.identity.quantum_identity;
  const { ed25519, ml_dsa_65 } = public_keys as unknown as AgentPublicKeys;
  const claims = JSON.parse(Buffer.from(jws.payload, 'base64url').toString());
  expect(claims.agent_keys).toEqual({ ed25519: ed25519.kid, ml_dsa_65: ml_dsa_65.kid });
  expect(claims.cnf).toEqual({ jkt: ed25519.kid });
  for (const name of ['ed25519', 'ml_dsa_65', 'ecdsa_p256'] as const) {
    const { crv, x, y, pub } = public_keys[name] ?? {};
    const exported = createPublicKey(private_keys_once[name] ?? '').export({ format: 'jwk' });
    expect(exported).toMatchObject(JSON.parse(JSON.stringify({ crv, x, y, pub })));
  }
});
