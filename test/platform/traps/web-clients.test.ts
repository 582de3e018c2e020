import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cleanEnvironment } from '../../support/environment.ts';
import { type Service, startService } from '../service.ts';
import { settingsOf } from './decoy-places.ts';

const run = promisify(execFile);

let service: Service;
let home: string;

beforeAll(async () => {
  service = await startService({ decoys: [settingsOf({ kind: 'web', isPlain: true })] });
});
afterAll(() => service.close());

interface Made {
  id: string;
  credential: Record<string, string>;
  content: string;
}

/** Plants a trap whose artifact is the only file in a home folder. */
async function planted(type: string, options: object = {}): Promise<Made> {
  const { status, body, text } = await service.call('POST', '//traps/api/v1/credentials/generate', {
    credential_type: type,
    plant_location: 'server',
    label: 'by a test',
    options,
  });
  if (status !== 201) throw new Error(text);
  home = await mkdtemp(join(tmpdir(), 'home-'));
  const { filename, content } = body.artifact;
  await mkdir(dirname(join(home, filename)), { recursive: true });
  await writeFile(join(home, filename), content);
  return { id: body.credential_id, credential: body.credential, content };
}

async function client(program: string, args: readonly string[]): Promise<string> {
  const env = cleanEnvironment({ HOME: home, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' });
  const { stdout, stderr } = await run(program, [...args], { cwd: home, env }).catch((failed) => failed);
  return `${stdout}${stderr}`;
}

async function detectionsOf({ id }: Made) {
  await rm(home, { recursive: true });
  const { body } = await service.call('GET', `//traps/api/v1/detections/?credential_id=${id}`);
  return body.data;
}

const SEEN = { source_ip: '127.0.0.1', auth_verified: true };

describe('clients that know the planted artifact only', () => {
  test('npm whoami', async () => {
    const made = await planted('npm_token');
    expect(await client('npm', ['whoami'])).toContain(made.credential['username']);
    expect(await detectionsOf(made)).toMatchObject([
      { ...SEEN, channel: 'npm', depth: 'validated', action: expect.stringMatching(/^(?:whoami|GET npm)$/) },
    ]);
  });

  test('git ls-remote, first without the login, then with it', async () => {
    const made = await planted('git_https');
    const url = made.credential['url']?.replace(/\/\/.*@/, '//') ?? '';
    expect(await client('git', ['-c', 'credential.helper=store', 'ls-remote', url])).toContain('not allowed');
    const [detection, ...others] = await detectionsOf(made);
    expect(others).toEqual([]);
    expect(detection).toMatchObject({ ...SEEN, channel: 'git', depth: 'used', occurrences: 1 });
    expect(detection.action).toBe(`git-upload-pack ${made.credential['repository']}`);
    expect(detection.user_agent).toMatch(/^git\//);
  });

  test('skopeo with the file of Docker', async () => {
    const made = await planted('docker_registry');
    const image = `docker://${made.credential['registry']}/team/app:latest`;
    const args = ['inspect', '--tls-verify=false', '--authfile', join(home, '.docker/config.json'), image];
    expect(await client('skopeo', args)).toMatch(/denied|unauthorized/i);
    const [detection, ...others] = await detectionsOf(made);
    expect(others).toEqual([]);
    expect(detection).toMatchObject({ ...SEEN, channel: 'registry', depth: 'used' });
    expect(detection.action).toBe('GET /v2/team/app/manifests/latest');
  });

  test.each([
    ['api_token', (made: Made) => made.credential['token']],
    ['jwt', (made: Made) => /ACCESS_TOKEN=(\S+)/.exec(made.content)?.[1]],
  ])('curl with the token of %s', async (type, tokenOf) => {
    const made = await planted(type);
    const base = /^API_URL=(?<scheme>\w+:\/\/)(?:[^@\n]*@)?(?<rest>\S+)$/m.exec(made.content)?.groups ?? {};
    const url = `${base['scheme']}${base['rest']}/users`;
    const answer = await client('curl', ['-si', '-H', `Authorization: Bearer ${tokenOf(made)}`, url]);
    expect(answer).toContain('403 Forbidden');
    expect(await detectionsOf(made)).toMatchObject([
      { ...SEEN, channel: 'http', depth: 'used', action: 'GET /api/v1/users', occurrences: 1 },
    ]);
  });

  test('curl with the address of a web bug', async () => {
    const made = await planted('web_bug');
    await client('curl', ['-s', made.credential['url'] ?? '']);
    expect(await detectionsOf(made)).toMatchObject([
      { ...SEEN, channel: 'http', depth: 'read', auth_verified: null, occurrences: 1 },
    ]);
  });

  test('an agent that connects, lists tools, and calls one', async () => {
    const made = await planted('mcp_server');
    const [entry] = Object.values<{ url: string; headers: Record<string, string> }>(
      JSON.parse(made.content).mcpServers,
    );
    const { url, headers } = entry ?? { url: '', headers: {} };
    const agent = new Client({ name: 'some-agent', version: '3.1' });
    await agent.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    const { tools } = await agent.listTools();
    expect(tools.length).toBeGreaterThan(1);
    const path = `//traps/api/v1/detections/?credential_id=${made.id}`;
    const connected = (await service.call('GET', path)).body.data;
    expect(connected).toMatchObject([{ ...SEEN, channel: 'mcp', depth: 'validated' }]);
    const called = await agent.callTool({ name: tools[0]?.name ?? '', arguments: {} });
    await agent.close();
    expect(called.isError).toBe(true);
    expect(await detectionsOf(made)).toMatchObject([
      { ...SEEN, depth: 'used', severity: 'critical', action: `tools/call ${tools[0]?.name}` },
    ]);
  });
});

describe('what is told apart', () => {
  async function status(url: string, headers: Record<string, string>): Promise<number> {
    return (await fetch(url, { headers })).status;
  }

  test('a JSON Web Token that somebody altered is one of ours, and nobody had its key', async () => {
    const made = await planted('jwt');
    const [header, payload = '', signature] = made.credential['token']?.split('.') ?? [];
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const altered = Buffer.from(JSON.stringify({ ...claims, scope: 'admin' })).toString('base64url');
    const url = `${claims.iss}/api/v1/x`;
    expect(await status(url, { authorization: `Bearer ${header}.${altered}.${signature}` })).toBe(401);
    expect(await detectionsOf(made)).toMatchObject([{ auth_verified: false, severity: 'medium', occurrences: 1 }]);
  });

  test('a right name with a wrong password, a stranger, and one that was revoked', async () => {
    const made = await planted('git_https');
    const { url = '', username, repository } = made.credential;
    const at = `${new URL(url).origin}/${repository}.git/info/refs?service=git-upload-pack`;
    const basic = (name: string, password: string) => ({ authorization: `Basic ${btoa(`${name}:${password}`)}` });
    expect(await status(at, basic('nobody', 'x'))).toBe(401);
    expect(await status(at, basic(username ?? '', 'wrong'))).toBe(401);
    await service.call('POST', `//traps/api/v1/credentials/${made.id}/revoke`);
    expect(await status(at, { 'private-token': made.credential['password'] ?? '' })).toBe(403);
    expect(await detectionsOf(made)).toMatchObject([{ occurrences: 2, auth_verified: true }]);
  });

  test('a token of somebody else’s service is refused in a sentence', async () => {
    const { status: code, text } = await service.call('POST', '//traps/api/v1/credentials/generate', {
      credential_type: 'api_token',
      plant_location: 'server',
      label: 'x',
      options: { form: 'github' },
    });
    expect([code, text]).toEqual([422, expect.stringContaining('could not be detected')]);
  });

  test.each(['npm_token', 'docker_registry', 'git_https', 'mcp_server', 'api_token', 'jwt', 'web_bug'])(
    'a marked use of %s proves its channel, and is no detection',
    async (type) => {
      const made = await planted(type);
      const { body } = await service.call('POST', `//traps/api/v1/credentials/${made.id}/test`);
      expect(body.data).toMatchObject([{ proved: true }]);
      expect(await detectionsOf(made)).toEqual([]);
    },
  );
});

test('a bundle in a .env: each part is recognised by itself, and all of it is one trap', async () => {
  const database = settingsOf({ kind: 'postgres', name: 'db' });
  const both = await startService({ decoys: [settingsOf({ kind: 'web', isPlain: true }), database] });
  const input = { credential_type: 'dotenv', plant_location: 'server', label: 'x' };
  const { body } = await both.call('POST', '//traps/api/v1/credentials/generate', input);
  const lines = Object.fromEntries(
    String(body.artifact.content)
      .split('\n')
      .map((line) => line.split(/=(.*)/)),
  );
  const proofs = await both.call('POST', `//traps/api/v1/credentials/${body.credential_id}/test`);
  const registry = `${lines['NPM_CONFIG_REGISTRY']}-/whoami`;
  await fetch(registry, { headers: { authorization: `Bearer ${lines['NPM_TOKEN']}` } });
  await fetch(registry, { headers: { authorization: `Bearer ${lines['API_TOKEN']}`, 'user-agent': 'other' } });
  await run('psql', [lines['DATABASE_URL'] ?? '', '-c', 'select 1']).catch(() => {});
  const { body: seen } = await both.call('GET', `//traps/api/v1/detections/?credential_id=${body.credential_id}`);
  await both.close();
  expect(
    proofs.body.data.map(({ channel, proved }: { channel: string; proved: boolean }) => [channel, proved]),
  ).toEqual([
    ['postgres', true],
    ['http', true],
    ['npm', true],
  ]);
  expect(seen.data.map(({ channel }: { channel: string }) => channel).sort()).toEqual(['npm', 'npm', 'postgres']);
  expect(seen.data.map(({ auth_verified }: { auth_verified: boolean }) => auth_verified)).toEqual([true, true, true]);
});
