import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { KILL_STEPS } from '../../../src/platform/agents/enums.ts';
import { OwnQuestions } from '../../../src/platform/agents/kill/asking.ts';
import { SecretBox } from '../../../src/platform/secrets.ts';
import { type Answer, SERVICES, type Service, startService } from '../service.ts';
import { AGENT } from './agent-place.ts';
import { TokenReceiver } from './kill/receiver.ts';

const API = '//agents/api/v1';
/** Members that public answers must not contain. */
const SECRETS = {
  name: 'the assistant of Somebody',
  model: 'model-of-nobody-else',
  allowed_tools: ['a-tool-of-its-own'],
  allowed_apis: ['api-of-its-own.example'],
};

async function onboarded(service: Service, more: object = {}): Promise<string> {
  const { body } = await service.call('POST', `${API}/agents`, { ...AGENT, ...more });
  const { status, text } = await service.call('POST', `${API}/agents/${body.agent_id}/onboard`);
  if (status >= 300) throw new Error(text);
  return body.agent_id;
}

/** Requests a path without a key. */
async function ask(service: Service, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return service.call('GET', path, undefined, { authorization: '', ...headers });
}

describe.each(SERVICES)('what strangers are told, on %s', (_name, start) => {
  let service: Service;
  let receiver: TokenReceiver;
  beforeAll(async () => {
    receiver = await new TokenReceiver().listen();
    service = await start({
      outgoingHosts: [receiver.host],
      rateLimits: { requestsPerMinute: 1e6, refusalsPerMinute: 1e6 },
    });
  });
  afterAll(async () => {
    await service.close();
    await receiver.close();
  });

  const verify = (agentId: string) => ask(service, `${API}/public/verify-agent/${agentId}`);

  test('that an agent is valid, and nothing of what it may do or whose it is', async () => {
    const agentId = await onboarded(service, SECRETS);
    const { status, body, text, headers } = await verify(agentId);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      agent_id: agentId,
      valid: true,
      status: 'active',
      reasons: [],
      tier: 'MONITOR',
      identity: { did: expect.stringMatching(/^did:web:/), public_keys: { ed25519: {}, ml_dsa_65: {} } },
      certificate: { status: 'good', pq: { status: 'good' } },
      passport: { status: 'valid' },
    });
    expect(headers.get('cache-control')).toBe('no-store');
    const told = [text];
    for (const file of ['did.json', 'agent-card.json'])
      told.push((await ask(service, `//agents/did/${agentId}/${file}`)).text);
    const own = (await service.call('GET', `${API}/agents/${agentId}`)).body;
    const secrets = [
      SECRETS.model,
      ...SECRETS.allowed_tools,
      ...SECRETS.allowed_apis,
      own.registered_by,
      own.identity.key_id,
    ];
    for (const secret of secrets) for (const each of told) expect(each).not.toContain(secret);
    expect(text).not.toContain(SECRETS.name);
    expect(Object.keys(body).sort()).toEqual(
      ['agent_id', 'certificate', 'checked_at', 'identity', 'passport', 'reasons', 'status', 'tier', 'valid'].sort(),
    );
  });

  test.each([
    ['suspend', 'suspended', 'on_hold'],
    ['revoke', 'revoked', 'revoked'],
  ] as const)('at once that an agent is not valid any more: %s', async (mode, status, certificate) => {
    const agentId = await onboarded(service);
    const begun = performance.now();
    const using = service.call('POST', `${API}/agents/${agentId}/kill-switch`, { mode, reason: 'a test' });
    while ((await verify(agentId)).body.valid === true) if (performance.now() - begun > 5000) break;
    const flipped = performance.now() - begun;
    const { status: answered, body } = await using;
    expect(answered).toBe(200);
    const took = performance.now() - begun;
    const after = body.public_verification_flipped_after_ms;
    process.stdout.write(
      `  ${mode}: strangers were told after ${flipped.toFixed(0)} ms, the receipt says ${after} ms and came after ${took.toFixed(0)} ms\n`,
    );
    expect(body.agents[0].steps.find(({ step }: { step: string }) => step === 'public_verification').result).toBe(
      'completed',
    );
    expect(after).toBeLessThanOrEqual(took);
    expect(flipped).toBeLessThan(2000);
    expect((await verify(agentId)).body).toMatchObject({
      valid: false,
      status,
      passport: { status },
      certificate: { status: certificate, pq: { status: certificate } },
    });
    const documents = ['kill-switch', `kill-switch/${body.kill_id}`];
    for (const path of documents)
      expect((await service.call('GET', `${API}/agents/${agentId}/${path}`)).status).toBe(200);
    const other = await onboarded(service);
    expect((await service.call('GET', `${API}/agents/${other}/kill-switch/${body.kill_id}`)).status).toBe(404);
  });

  test('after reinstatement that it is valid again, and a subscriber hears of both', async () => {
    await service.call('POST', `${API}/subscribers`, { url: receiver.url, audience: 'x' });
    const agentId = await onboarded(service);
    await service.call('POST', `${API}/agents/${agentId}/kill-switch`, { mode: 'suspend', reason: 'a test' });
    const { status, body } = await service.call('POST', `${API}/agents/${agentId}/reinstate`, { reason: 'a test' });
    expect([status, body.state]).toEqual([200, 'active']);
    expect((await verify(agentId)).body.valid).toBe(true);
    await expect.poll(() => receiver.tokens.length, { timeout: 10_000 }).toBe(2);
    expect((await service.call('POST', `${API}/agents/${agentId}/reinstate`, { reason: 'a test' })).status).toBe(409);
  });

  test('of one that was never onboarded that it is not valid, and of one that is not there nothing', async () => {
    const { body } = await service.call('POST', `${API}/agents`, AGENT);
    expect((await verify(body.agent_id)).body).toMatchObject({
      valid: false,
      status: 'registered',
      identity: null,
      certificate: null,
      passport: null,
    });
    for (const path of [
      ...[
        `${API}/public/verify-agent/none`,
        `//agents/did/${body.agent_id}/did.json`,
        '//agents/did/none/agent-card.json',
      ],
      ...[`${API}/public/crl/none.crl`, `${API}/public/crl/ecdsa-9.crl`],
    ])
      expect([path, (await ask(service, path)).status]).toEqual([path, 404]);
  });
});

describe('the documents for strangers', () => {
  let service: Service;
  let folder: string;
  let agentId: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'strangers-'));
    service = await startService({ rateLimits: { requestsPerMinute: 1e6, refusalsPerMinute: 1e6 } });
    agentId = await onboarded(service);
  });
  afterAll(async () => {
    await service.close();
    await rm(folder, { recursive: true });
  });

  test.each([
    ['status-list', 'application/statuslist+jwt'],
    ['jwks.json', 'application/jwk-set+json'],
    ['crl/ecdsa.crl', 'application/pkix-crl'],
    ['crl/ml-dsa-65.crl', 'application/pkix-crl'],
    ['ca/ecdsa.pem', 'application/pem-certificate-chain'],
    ['ca/ml-dsa-65.pem', 'application/pem-certificate-chain'],
  ])('%s can be kept for a minute, and is not sent again to who has it', async (file, type) => {
    const path = `${API}/public/${file}`;
    const { status, headers } = await ask(service, path);
    expect([status, headers.get('content-type')?.split(';')[0]]).toEqual([200, type]);
    expect(headers.get('cache-control')).toBe('public, max-age=60');
    const etag = headers.get('etag') ?? '';
    const known = await ask(service, path, { 'if-none-match': etag });
    expect([known.status, known.text]).toEqual([304, '']);
  });

  test('lists say something else at once when somebody is stopped', async () => {
    const lists = ['status-list', 'crl/ecdsa.crl', 'crl/ml-dsa-65.crl'];
    const etags = async () =>
      Promise.all(lists.map(async (list) => (await ask(service, `${API}/public/${list}`)).headers.get('etag')));
    const before = await etags();
    await service.call('POST', `${API}/agents/${agentId}/kill-switch`, { mode: 'suspend', reason: 'a test' });
    const after = await etags();
    for (const [at, etag] of after.entries()) expect(etag).not.toBe(before[at]);
    const { body } = await ask(service, `${API}/public/verify-agent/${agentId}`);
    const response = await fetch(new URL('/agents/api/v1/public/crl/ecdsa.crl', service.origin));
    await writeFile(join(folder, 'ecdsa.crl'), Buffer.from(await response.arrayBuffer()));
    const words = ['crl', '-inform', 'DER', '-in', join(folder, 'ecdsa.crl'), '-noout', '-text'];
    const text = execFileSync('openssl', words, { encoding: 'utf8' });
    expect(text.toLowerCase()).toContain(body.certificate.serial.toLowerCase().replace(/^0+/, ''));
    expect(text).toContain('Certificate Hold');
  });
});

test('the kill switch asks about each agent of a family, and nobody else asks without being counted', async () => {
  const service = await startService({ rateLimits: { requestsPerMinute: 1e6, refusalsPerMinute: 3 } });
  try {
    const parent = await onboarded(service);
    for (let child = 0; child < 5; child++)
      await service.call('POST', `${API}/agents`, { ...AGENT, parent_agent_id: parent });
    const input = { mode: 'suspend', reason: 'a test' };
    const { body } = await service.call('POST', `${API}/agents/${parent}/kill-switch`, input);
    const steps = body.agents.flatMap(({ steps }: { steps: object[] }) => steps);
    expect(steps).toHaveLength(6 * KILL_STEPS.length);
    expect(steps.filter(({ result }: { result: string }) => result === 'failed')).toEqual([]);
    const masterKey = await readFile(join(service.dataDir, 'master.key'));
    const markedBy = (key: Uint8Array, agentId: string, at = Date.now()) =>
      new OwnQuestions(new SecretBox(key, 'agents/own-questions'), () => new Date(at)).mark(agentId);
    const statusesWith = async (mark: string) => {
      const statuses = new Set<number>();
      // A new minute may begin during the requests.
      for (let time = 0; time < 8; time++) {
        const headers = { [OwnQuestions.header]: mark };
        statuses.add((await ask(service, `${API}/public/verify-agent/${parent}`, headers)).status);
      }
      return statuses;
    };
    expect(await statusesWith(markedBy(masterKey, parent))).toEqual(new Set([200]));
    for (const mark of [
      markedBy(Buffer.alloc(32), parent),
      markedBy(masterKey, body.agents[0].agent_id),
      markedBy(masterKey, parent, Date.now() - 120_000),
      markedBy(masterKey, parent).slice(0, -4),
      'x',
    ])
      expect(await statusesWith(mark)).toContain(429);
  } finally {
    await service.close();
  }
});

test('who asks too often without a key is told to wait; who has one, or asks from elsewhere, is not', async () => {
  const service = await startService({
    rateLimits: { requestsPerMinute: 1e6, refusalsPerMinute: 20 },
    trustedProxies: ['127.0.0.1'],
  });
  try {
    const agentId = await onboarded(service);
    const path = `${API}/public/verify-agent/${agentId}`;
    const from = (address: string) => ask(service, path, { 'x-forwarded-for': address });
    const answers = [];
    for (let time = 0; time < 25; time++) answers.push(await from('203.0.113.9'));
    const refused = answers.filter(({ status }) => status === 429);
    // A new minute may begin during the requests.
    expect(refused.length).toBeGreaterThan(0);
    expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(answers[0]?.headers.get('ratelimit-policy')).toBe('"strangers";q=20;w=60');
    expect((await service.call('GET', `${API}/agents/${agentId}`)).status).toBe(200);
    expect(await from('198.51.100.7')).toMatchObject({ status: 200, body: { valid: true } });
  } finally {
    await service.close();
  }
});
