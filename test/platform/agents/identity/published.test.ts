import { createPrivateKey, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer, globalAgent } from 'node:https';
import type { AddressInfo } from 'node:net';
import { inflateSync } from 'node:zlib';
import { canonicalizeAgentCard, type AgentCard as SdkCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import canonicalize from 'canonicalize';
import { Resolver, type ResolverRegistry } from 'did-resolver';
import { createLocalJWKSet, decodeProtectedHeader, flattenedVerify, type JWK, jwtVerify } from 'jose';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { getResolver } from 'web-did-resolver';
import type { PassportStatus } from '../../../../src/platform/agents/enums.ts';
import type { AgentCard } from '../../../../src/platform/agents/identity/documents.ts';
import {
  type AgentPublicKeys,
  changePassport,
  currentIdentity,
} from '../../../../src/platform/agents/identity/identity-rows.ts';
import { isSignedByAgent } from '../../../../src/platform/agents/identity/keys.ts';
import { makeCertificates } from '../../../exporter/client/certificates.ts';
import { IssuingPlace } from './issuing-place.ts';

const ISSUER = 'https://platform.example/agents';

let place: IssuingPlace;

beforeAll(async () => {
  place = await IssuingPlace.open();
});

afterAll(() => place.close());

type Issued = Awaited<ReturnType<IssuingPlace['issued']>>;

/** Verifies a JWT of the platform with jose. */
async function verified(jwt: string, typ: string, more: object = {}) {
  const { keys } = await place.issuer.published.jwks();
  const find = createLocalJWKSet({ keys: keys as JWK[] });
  return (await jwtVerify(jwt, find, { typ, currentDate: new Date(place.now), ...more })).payload;
}

describe('the DID document of an agent', () => {
  const { ca, server: own } = makeCertificates();
  const server = createServer(own, async ({ url }, answer) => {
    const [, agentId = ''] = /^\/agents\/did\/([^/]+)\/did\.json$/.exec(url ?? '') ?? [];
    const document = await place.issuer.published.didDocument(agentId).catch(() => null);
    answer.writeHead(document === null ? 404 : 200, { 'content-type': 'application/did+json' });
    answer.end(JSON.stringify(document));
  });
  const before = globalAgent.options.ca;
  const publicUrl = 'https://platform.example';

  beforeAll(async () => {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    place.publicUrl = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // The resolver uses Node's global agent.
    globalAgent.options.ca = ca;
  });

  afterAll(() => {
    place.publicUrl = publicUrl;
    globalAgent.options.ca = before;
    globalAgent.destroy();
    server.close();
  });

  const resolve = (did: string) => new Resolver(getResolver() as ResolverRegistry).resolve(did);

  test('is what a resolver library finds, with the keys that the agent signs by', async () => {
    const { agent, identity } = await place.issued();
    const { did, public_keys, private_keys_once } = identity.quantum_identity;
    expect(did).toMatch(new RegExp(`^did:web:127\\.0\\.0\\.1%3A\\d+:agents:did:${agent.agent_id}$`));
    const { didDocument, didResolutionMetadata } = await resolve(did);
    expect(didResolutionMetadata.error).toBeUndefined();
    expect(didDocument?.id).toBe(did);
    const methods = didDocument?.verificationMethod ?? [];
    expect(methods.map(({ publicKeyJwk }) => publicKeyJwk)).toEqual([public_keys['ed25519'], public_keys['ml_dsa_65']]);
    expect(didDocument?.assertionMethod).toEqual(methods.map(({ id }) => id));
    expect(JSON.stringify(didDocument)).not.toMatch(/"(d|priv)":/);

    const message = Buffer.from('what it did');
    for (const [algorithm, name] of [['EdDSA', 'ed25519'] as const, ['ML-DSA-65', 'ml_dsa_65'] as const]) {
      const key = createPrivateKey(private_keys_once[name] ?? '');
      const signature = sign(null, message, key).toString('base64url');
      const keys = public_keys as unknown as AgentPublicKeys;
      expect(isSignedByAgent(keys, { algorithm, message, signature })).toBe(true);
      expect(isSignedByAgent(keys, { algorithm, message: Buffer.from('else'), signature })).toBe(false);
      expect(isSignedByAgent(keys, { algorithm, message, signature: `${signature}=` })).toBe(false);
    }
  });

  test('of a revoked agent has no keys, and of an unknown one there is none', async () => {
    const { agent, identity } = await place.issued();
    const { did } = identity.quantum_identity;
    await place.setState(agent, 'revoked');
    expect((await resolve(did)).didDocument).toMatchObject({ id: did, verificationMethod: [], authentication: [] });
    const { didResolutionMetadata } = await resolve(did.replace(agent.agent_id, 'nobody'));
    expect(didResolutionMetadata.error).toBe('notFound');
  });
});

describe('the A2A card of an agent', () => {
  async function cardOf({ agent }: Issued): Promise<AgentCard> {
    const card = await place.issuer.published.card(agent.agent_id);
    if (card === null) throw new Error('there is no card');
    return card;
  }

  /** Verifies with the SDK, which knows the keys of these algorithms. */
  async function sdkVerifies(card: AgentCard, algorithms = ['EdDSA', 'ML-DSA-65']): Promise<void> {
    const { keys } = await place.issuer.published.jwks();
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      expect(jku).toBe(`${ISSUER}/api/v1/public/jwks.json`);
      const key = keys.find((known) => known.kid === kid && algorithms.includes(known.alg));
      if (key === undefined) throw new Error('not known');
      return key as JWK;
    });
    await verify(card as unknown as SdkCard);
  }

  beforeEach(() => {
    // The SDK logs failed verifications to console.debug.
    const written = vi.spyOn(console, 'debug').mockImplementation(() => {});
    return () => written.mockRestore();
  });

  test.each([['EdDSA'], ['ML-DSA-65']])(
    'is verified by the SDK, by its signature of %s alone, too',
    async (algorithm) => {
      const card = await cardOf(await place.issued());
      await sdkVerifies(card, [algorithm]);
      await expect(sdkVerifies({ ...card, name: 'Somebody else' }, [algorithm])).rejects.toThrow('No valid signatures');
      await expect(sdkVerifies(card, [])).rejects.toThrow('No valid signatures');
    },
  );

  test('is signed as it stands, and tells nobody what its agent may use', async () => {
    const card = await cardOf(await place.issued('Übersetzer — 翻訳'));
    await sdkVerifies(card);
    const { signatures: _, supportedInterfaces, ...signed } = card;
    expect(supportedInterfaces).toEqual([]);
    expect(JSON.parse(canonicalizeAgentCard(card as unknown as SdkCard))).toEqual(signed);
    expect(JSON.stringify(card)).not.toMatch(/read_invoice|api\.example|gpt-5|"test"/);
  });

  test('is signed as the specification writes it, too, which keeps a required member that is empty', async () => {
    const { signatures, ...card } = await cardOf(await place.issued());
    const { keys } = await place.issuer.published.jwks();
    const payload = Buffer.from(canonicalize(card) ?? '').toString('base64url');
    const find = createLocalJWKSet({ keys: keys as JWK[] });
    const verified = await Promise.allSettled(
      signatures.map((signature) => flattenedVerify({ ...signature, payload }, find)),
    );
    expect(verified.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'fulfilled', 'fulfilled']);
  });

  test('is there for no agent that is revoked, unknown or not onboarded', async () => {
    const { agent } = await place.issued();
    await place.setState(agent, 'revoked');
    await expect(place.issuer.published.card(agent.agent_id)).rejects.toMatchObject({ code: 'not_found' });
    await expect(place.issuer.published.card('nobody')).rejects.toMatchObject({ code: 'not_found' });
    await expect(place.issuer.published.card((await place.agent()).agent_id)).rejects.toMatchObject({
      code: 'not_found',
    });
  });
});

describe('the status list', () => {
  async function setStatus({ agent }: Issued, status: PassportStatus): Promise<number> {
    const identity = await currentIdentity(place.database, agent.agent_no);
    if (identity === null) throw new Error('the agent has no identity');
    await place.database.write((transaction) => changePassport(transaction, identity, status, new Date(place.now)));
    return identity.identity_no;
  }

  /** Reads a status as section 8.3 of the Token Status List specifies. */
  async function statusAt({ identity }: Issued): Promise<number> {
    const claims = JSON.parse(Buffer.from(JSON.parse(identity.passport.jws).payload, 'base64url').toString());
    const { idx, uri } = claims.status.status_list as { idx: number; uri: string };
    const list = await verified(await place.issuer.published.statusList(), 'statuslist+jwt', { subject: uri });
    expect(list).toMatchObject({ ttl: 60, sub: `${ISSUER}/api/v1/public/status-list` });
    const { bits, lst } = list['status_list'] as { bits: number; lst: string };
    const bytes = inflateSync(Buffer.from(lst, 'base64url'));
    return ((bytes[Math.floor((idx * bits) / 8)] ?? 0) >> ((idx * bits) % 8)) & (2 ** bits - 1);
  }

  test.each([
    ['valid', 0],
    ['revoked', 1],
    ['superseded', 1],
    ['suspended', 2],
  ] as const)('says of a passport that is %s %i, whatever the others are', async (status, value) => {
    const all = [await place.issued(), await place.issued(), await place.issued(), await place.issued()];
    for (const issued of all) {
      await setStatus(issued, status);
      for (const each of all) expect(await statusAt(each)).toBe(each === issued ? value : 0);
      await setStatus(issued, 'valid');
    }
  });

  test('stays as it is while it says the same, for an hour', async () => {
    const issued = await place.issued();
    const { published } = place.issuer;
    const [first, list] = [await published.statusList(), await published.revocationList('ecdsa')];
    place.now += 3_600_000 - 1000;
    expect(await published.statusList()).toBe(first);
    expect(await published.revocationList('ecdsa')).toBe(list);
    place.now += 1000;
    expect(await published.statusList()).not.toBe(first);
    expect(await published.revocationList('ecdsa')).not.toEqual(list);
    const second = await published.statusList();
    await setStatus(issued, 'suspended');
    expect(await published.statusList()).not.toBe(second);
  });

  test.each(['ecdsa-2', 'ml_dsa_65', 'rsa', '', 'ecdsa-1', 'ecdsa-01'])(
    'there is no list of the name %j',
    async (file) => {
      await expect(place.issuer.published.revocationList(file)).rejects.toMatchObject({ code: 'not_found' });
    },
  );
});

test.each([
  ['suspended', 'account-disabled'],
  ['revoked', 'account-disabled'],
  ['reinstated', 'account-enabled'],
] as const)('a relying party verifies a security event: %s', async (event, risc) => {
  const { agent, identity } = await place.issued();
  const told = { aud: 'https://gateway.example', jti: 'jti-1', txn: 'kill-1', agentId: agent.agent_id };
  const detail = { mode: 'suspend' };
  const jwt = await place.issuer.signSecurityEvent(place.database, { ...told, event, at: new Date(place.now), detail });
  expect(decodeProtectedHeader(jwt)).toMatchObject({ alg: 'EdDSA', typ: 'secevent+jwt' });
  expect(await verified(jwt, 'secevent+jwt', { audience: told.aud, issuer: ISSUER })).toEqual({
    iss: ISSUER,
    aud: told.aud,
    jti: 'jti-1',
    txn: 'kill-1',
    iat: place.now / 1000,
    toe: place.now / 1000,
    sub_id: { format: 'did', url: identity.quantum_identity.did },
    events: {
      [`https://schemas.openid.net/secevent/risc/event-type/${risc}`]: {},
      [`urn:evidence-platform:agent:${event}`]: detail,
    },
  });
  await expect(verified(jwt, 'secevent+jwt', { audience: 'https://other.example' })).rejects.toThrow('"aud"');
  await expect(verified(`${jwt.slice(0, -8)}AAAAAAAA`, 'secevent+jwt')).rejects.toThrow('signature');
});
