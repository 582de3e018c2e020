import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { refuseLogins, type ShownKey } from '../../../src/platform/traps/decoys/ssh/authentication.ts';
import type { SshTransport } from '../../../src/platform/traps/decoys/ssh/transport.ts';
import { sshMessage, sshString } from '../../../src/platform/traps/decoys/ssh/wire.ts';
import { DecoyService, type Planted } from './decoy-service.ts';
import { nmapOf } from './nmap.ts';

let decoy: DecoyService;

beforeAll(async () => {
  decoy = await DecoyService.start('ssh');
});
afterAll(() => decoy.close());

const plant = (options = {}) => decoy.plant('ssh_key', options);
const KNOWN = ['-o', 'UserKnownHostsFile=known_hosts', '-o', 'StrictHostKeyChecking=accept-new'];

/** Runs ssh with the options that the lines for ~/.ssh/config give. */
function ssh({ run, credential }: Planted, more: readonly string[] = [], key = 'id_ed25519') {
  const { host, port, user } = credential;
  const asked = ['-F', 'none', '-i', key, '-o', 'IdentitiesOnly=yes', '-o', 'BatchMode=yes', ...KNOWN];
  return run('ssh', [...asked, ...more, '-p', `${port}`, `${user}@${host}`, 'true']);
}

const refused = expect.stringMatching(/Permission denied \(publickey\)\.\r?\n$/);

describe('ssh', () => {
  test.each(['ed25519', 'rsa'])('with a planted key of %s is told of before it is refused', async (algorithm) => {
    const trap = await plant({ algorithm });
    expect(await ssh(trap, [], `id_${algorithm}`)).toMatchObject({ status: 255, stdout: '', stderr: refused });
    const version = (await trap.run('ssh', ['-V'])).stderr.split(',', 1)[0];
    expect(await decoy.detections(trap.id)).toMatchObject([
      {
        channel: 'ssh',
        depth: 'validated',
        severity: 'high',
        auth_verified: true,
        occurrences: 2,
        source_ip: '127.0.0.1',
        user_agent: version,
        service: 'ssh',
        action: `Postponed publickey for ${trap.credential['user']}`,
      },
    ]);
  });

  test('with the public half alone is told of, and not as somebody who has the key', async () => {
    const trap = await plant();
    const { run, credential } = trap;
    await run('sh', ['-c', 'echo "$0" >alone.pub', `${credential['public_key']}`]);
    expect(await ssh(trap, [], 'alone.pub')).toMatchObject({ stderr: refused });
    expect(await decoy.detections(trap.id)).toMatchObject([{ auth_verified: null, occurrences: 1 }]);
  });

  test('with a key that nobody planted leaves nothing', async () => {
    const trap = await plant();
    const before = await decoy.detections();
    await trap.run('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', 'other']);
    expect(await ssh(trap, [], 'other')).toMatchObject({ status: 255, stderr: refused });
    expect(await decoy.detections()).toEqual(before);
  });

  test.each(['revoke', 'rotate'] as const)('is told of after a %s too', async (act) => {
    const trap = await plant();
    await decoy.change(trap.id, act);
    await ssh(trap);
    expect(await decoy.detections(trap.id)).toMatchObject([{ auth_verified: true }]);
  });

  test.each([
    ['curve25519-sha256', 'rsa-sha2-512', 'aes256-gcm@openssh.com', 'hmac-sha2-256'],
    ['curve25519-sha256@libssh.org', 'rsa-sha2-256', 'aes128-gcm@openssh.com', 'hmac-sha2-256'],
    ['ecdh-sha2-nistp256', 'ecdsa-sha2-nistp256', 'aes256-ctr', 'hmac-sha2-256-etm@openssh.com'],
    ['ecdh-sha2-nistp384', 'ssh-ed25519', 'aes192-ctr', 'hmac-sha2-512-etm@openssh.com'],
    ['ecdh-sha2-nistp521', 'ssh-ed25519', 'aes128-ctr', 'hmac-sha2-256'],
    ['curve25519-sha256', 'ssh-ed25519', 'aes128-ctr', 'hmac-sha2-512'],
  ])('agrees on %s, %s, %s and %s', async (kex, hostKey, cipher, mac) => {
    const trap = await plant();
    const options = [`KexAlgorithms=${kex}`, `HostKeyAlgorithms=${hostKey}`, `Ciphers=${cipher}`, `MACs=${mac}`];
    const { stderr } = await ssh(
      trap,
      options.flatMap((option) => ['-o', option]),
    );
    expect(stderr).toEqual(refused);
    expect(await decoy.detections(trap.id)).toMatchObject([{ auth_verified: true }]);
  });
});

test.each(['ed25519', 'rsa'])('ssh-keygen reads the planted key of %s', async (algorithm) => {
  const { run, credential } = await plant({ algorithm });
  const { stdout } = await run('ssh-keygen', ['-y', '-f', `id_${algorithm}`]);
  expect(stdout.trimEnd()).toBe(credential['public_key']);
  const shown = await run('ssh-keygen', ['-l', '-f', `id_${algorithm}`]);
  expect(shown.stdout).toContain(` ${credential['fingerprint']} `);
});

test('the lines for ~/.ssh/config lead to the decoy', async () => {
  const { run, credential } = await plant();
  const lines = `${credential['ssh_config']}`;
  await run('sh', ['-c', 'printf %s "$0" >config', lines]);
  const { stdout } = await run('ssh', ['-G', '-F', 'config', /^Host (.*)$/m.exec(lines)?.[1] ?? '']);
  expect(stdout).toMatch(/^hostname 127\.0\.0\.1$/m);
  expect(stdout).toMatch(new RegExp(`^port ${decoy.port}$`, 'm'));
  expect(stdout).toMatch(new RegExp(`^user ${credential['user']}$`, 'm'));
});

test('a marked use proves the channel, and is no detection', async () => {
  const trap = await plant();
  expect(await decoy.prove(trap.id)).toEqual([
    { channel: 'ssh', proved: true, outcome: 'The marked use was detected.' },
  ]);
  expect(await decoy.detections(trap.id)).toEqual([]);
});

test('two traps share nothing but the form', async () => {
  const [one, other] = (await Promise.all([plant(), plant()])).map(({ credential }) => credential);
  expect(one?.['fingerprint']).not.toBe(other?.['fingerprint']);
  for (const credential of [one, other])
    expect(JSON.stringify(credential)).not.toMatch(/trap|canary|decoy|honey|evidence/i);
});

test('a decoy keeps its host keys to itself, and no other one has them', async () => {
  const other = await DecoyService.start('ssh');
  try {
    const [keys, others] = await Promise.all([hostKeys(decoy), hostKeys(other)]);
    expect(keys.map((line) => line.split(' ')[0]).sort()).toEqual(['ecdsa-sha2-nistp256', 'ssh-ed25519', 'ssh-rsa']);
    expect(keys.filter((line) => others.includes(line))).toEqual([]);
    const folder = join(decoy.service.dataDir, 'decoys', 'ssh');
    expect((await readdir(folder)).sort()).toEqual(['host-ecdsa.pem', 'host-ed25519.pem', 'host-rsa.pem']);
  } finally {
    await other.close();
  }
});

async function hostKeys(of: DecoyService): Promise<string[]> {
  const { run } = await of.plant('ssh_key');
  const { stdout } = await run('ssh-keyscan', ['-p', `${of.port}`, '127.0.0.1']);
  return stdout
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => line.slice(line.indexOf(' ') + 1));
}

const VERSION = 'OpenSSH_9.2p1 Debian-2+deb12u10';
const BEGIN = `SSH-2.0-${VERSION}\r\n`;

const list = (names: string) => `\0\0\0${String.fromCharCode(names.length)}${names}`;
const CIPHERS = list('aes256-gcm@openssh.com,aes128-gcm@openssh.com,aes256-ctr,aes192-ctr,aes128-ctr');
const MACS = list('hmac-sha2-256-etm@openssh.com,hmac-sha2-512-etm@openssh.com,hmac-sha2-256,hmac-sha2-512');
const ZLIB = list('none,zlib@openssh.com');
const KEX =
  'curve25519-sha256,curve25519-sha256@libssh.org,ecdh-sha2-nistp256,ecdh-sha2-nistp384,ecdh-sha2-nistp521,kex-strict-s-v00@openssh.com';
const KEYS = list('rsa-sha2-512,rsa-sha2-256,ecdsa-sha2-nistp256,ssh-ed25519');
/** Offer of algorithms, without its 16 random bytes; the padding is zeros. */
const OFFER = `\0\0\x02t\x04\x14${list(KEX)}${KEYS}${CIPHERS}${CIPHERS}${MACS}${MACS}${ZLIB}${ZLIB}${'\0'.repeat(17)}`;

// Answers of sshd in that version to the same bytes, with the same lists configured.
test.each([
  ['HTTP', 'GET / HTTP/1.0\r\n\r\n', 'Invalid SSH identification string.\r\n'],
  ['an empty line', '\r\n', 'Invalid SSH identification string.\r\n'],
  ['a name without a version', 'SSH-x\r\n', 'Invalid SSH identification string.\r\n'],
  ['an older protocol', 'SSH-1.5-x\r\n', 'Protocol major versions differ.\r\n'],
  ['a line without an end', 'x'.repeat(9000), 'Invalid SSH identification string.\r\n'],
  ['a packet that is none', `SSH-2.0-x\r\n${'@'.repeat(20)}`, OFFER],
  ['a login before keys', 'SSH-2.0-x\r\n\0\0\0\x0c\x0a\x32aaaaaaaaaa', OFFER],
])('%s is answered as OpenSSH does', async (_, sent, answered) => {
  const heard = await decoy.exchange(Buffer.from(sent, 'latin1'));
  expect(heard.slice(0, BEGIN.length)).toBe(BEGIN);
  const rest = heard.slice(BEGIN.length);
  expect(rest.startsWith('\0') ? rest.slice(0, 6) + rest.slice(22) : rest).toBe(answered);
});

test('nmap and ssh-audit call it the OpenSSH of its version', async () => {
  const { run } = await plant();
  expect(await nmapOf([decoy.port])).toMatch(/open\s+ssh\s+OpenSSH 9\.2p1 Debian 2\+deb12u10 \(protocol 2\.0\)/);
  const audit = await run('ssh-audit', ['-n', '-p', `${decoy.port}`, '127.0.0.1']);
  expect(audit.stdout).toContain(`(gen) banner: SSH-2.0-${VERSION}`);
  expect(audit.stdout).toContain('(gen) software: OpenSSH 9.2p1');
  expect(audit.stdout).not.toMatch(/^\(\w+\).*-- \[fail\] (?!using (elliptic curves|weak elliptic curves))/m);
});

describe('somebody who speaks for themselves', () => {
  /** Sends messages under agreed keys, and returns the answers. */
  async function talk(...messages: Buffer[]) {
    const answers: Buffer[] = [];
    const shown: ShownKey[] = [];
    const transport = {
      read: async () => messages.shift() ?? null,
      send: async (...sent: Buffer[]) => answers.push(...sent) > 0,
      disconnect: async (reason: string) => answers.push(Buffer.from(reason)),
      lastSequence: 7,
    } as unknown as SshTransport;
    await refuseLogins({
      transport,
      session: { id: Buffer.alloc(32), takesExtensions: true },
      delaySeed: Buffer.alloc(1),
      find: async () => ({ trapNo: 1, type: 'ssh_key', credential: {} }),
      onKey: async (key) => void shown.push(key),
      renew: async () => false,
    });
    return { answers: answers.map((answer) => answer.toString('latin1')), shown };
  }
  const served = sshMessage(5, sshString('ssh-userauth'));
  const login = (user: string, method: string, ...more: Buffer[]) =>
    sshMessage(50, ...[user, 'ssh-connection', method].map(sshString), ...more);
  const blob = Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.alloc(32, 9))]);
  const failure = '\x33\0\0\0\x09publickey\0';

  test('and signs with another key is no owner of the key', async () => {
    const signature = Buffer.concat([sshString('ssh-ed25519'), sshString(Buffer.alloc(64))]);
    const signed = [Buffer.from([1]), sshString('ssh-ed25519'), sshString(blob), sshString(signature)];
    const { answers, shown } = await talk(served, login('u', 'publickey', ...signed));
    expect(answers.at(-1)).toBe(failure);
    expect(shown).toMatchObject([{ verified: false, user: 'u' }]);
  });

  test('gets six tries', async () => {
    const { answers } = await talk(served, ...Array.from({ length: 9 }, () => login('u', 'password')));
    expect(answers.slice(1)).toEqual([...Array(5).fill(failure), 'Too many authentication failures']);
  });

  test('cannot become somebody else', async () => {
    const { answers } = await talk(served, login('u', 'none'), login('v', 'none'));
    expect(answers.at(-1)).toBe('Change of username or service not allowed: (u,ssh-connection) -> (v,ssh-connection)');
  });

  test('has to ask for the service first', async () => {
    const { answers } = await talk(login('u', 'none'), sshMessage(5, sshString('ssh-connection')));
    expect(answers).toEqual(['\x03\0\0\0\x07', 'bad service request ssh-connection']);
  });
});
