import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Service, startService } from '../platform/service.ts';
import { finish, nodeToEnd, type ProcessOptions, SENSOR, startNode } from '../support/process.ts';
import { emptyFolder } from './scanned.ts';
import { type Watched, watched } from './watched.ts';

let service: Service;
let machine: Watched;
let cwd: string;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());
beforeEach(async () => {
  machine = await watched(service);
  cwd = emptyFolder();
  writeFileSync(join(machine.root, 'tool'), 'content');
  writeFileSync(join(cwd, 'token'), `${machine.token}\n`);
});

const words = (...more: string[]) => ['--url', machine.url, '--state', machine.folder, ...more];
const BY_FILE = ['--endpoint-token-file', 'token'];

function sensor(args: string[], options: Partial<ProcessOptions> = {}) {
  return nodeToEnd(SENSOR, args, { cwd, ...options });
}

test.each<[string, string[], (token: string) => Record<string, string>]>([
  ['in a file', BY_FILE, () => ({})],
  ['in a file that the environment names', [], () => ({ EVIDENCE_ENDPOINT_TOKEN_FILE: 'token' })],
  ['in the environment', [], (token) => ({ EVIDENCE_ENDPOINT_TOKEN: token })],
])('with its token %s it reports once, and says how it stands', async (_name, args, env) => {
  writeFileSync(join(machine.root, '\u001b[2J'), '');
  const { code, stdout, stderr } = await sensor(words(...args, '--once'), { env: env(machine.token) });
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(
    /^report 1 of watched: 2 paths, 7 bytes read; 0 events raised, 0 resolved, 0 open; The endpoint has no active baseline.*\n$/,
  );
});

test('loads no package', async () => {
  const loaded = join(cwd, 'loaded.json');
  const { code } = await sensor(words(...BY_FILE, '--once'), {
    env: { LOADED_PACKAGES: loaded },
    nodeFlags: ['--import', resolve(import.meta.dirname, '../support/loaded-packages.ts')],
  });
  expect([code, JSON.parse(readFileSync(loaded, 'utf8'))]).toEqual([0, {}]);
});

describe('it ends', () => {
  test.each<[number, string, () => string[], RegExp]>([
    [2, 'without a token', () => words('--once'), /needs the token of this endpoint/],
    [2, 'without an address', () => [...BY_FILE, '--once'], /needs --url/],
    [2, 'with two tokens', () => words(...BY_FILE, '--endpoint-token', 'x'), /are both given/],
    [2, 'with a file that is not there', () => words('--endpoint-token-file', 'none'), /cannot be read.*none/],
    [2, 'with a rate that is none', () => words(...BY_FILE, '--rate', 'x'), /--rate/],
    [
      2,
      'with a folder that it may not use',
      () => ['--url', machine.url, ...BY_FILE, '--state', '/proc/sensor'],
      /--state/,
    ],
    [5, 'with another token', () => words('--endpoint-token', 'another', '--once'), /refused the token/],
  ])('with %i %s', async (expected, _name, args, said) => {
    const { code, stderr } = await sensor(args());
    expect([code, stderr]).toEqual([expected, expect.stringMatching(said)]);
    expect(stderr).not.toContain(machine.token);
  });

  test('with 1 where the service does not go on with its chain', async () => {
    const { state, service: client } = machine.deps();
    await client[Symbol.asyncDispose]();
    await machine.round();
    const { code, stderr } = await sensor([
      ...['--url', machine.url, '--state', join(cwd, 'another'), ...BY_FILE, '--once'],
    ]);
    expect(state.chain()?.sequence).toBe(1);
    expect([code, stderr]).toEqual([1, expect.stringMatching(/refused this sensor's key.*\n.*restart the endpoint/)]);
  });

  test('at once by SIGTERM, whatever it does, and goes on with the next run', async () => {
    const child = startNode(SENSOR, words(...BY_FILE), { cwd });
    const [line] = await once(child.stdout?.setEncoding('utf8') ?? child, 'data');
    expect(line).toMatch(/^report 1 of watched/);
    const ended = finish(child);
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ signal: 'SIGTERM', stderr: '' });
    expect((await machine.round()).accepted.next.sequence).toBe(3);
    expect(await machine.types()).toEqual([]);
  });
});
