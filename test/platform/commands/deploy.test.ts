import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { packageFile, readManifest } from '../../../src/core/install-paths.ts';
import { deployCommand } from '../../../src/platform/commands/deploy.ts';
import { readPlatformConfig } from '../../../src/platform/config.ts';

const PROGRAM = { name: 'evidence-platform', commands: {} };

async function deploy(kind: 'systemd' | 'docker' | 'sensor'): Promise<string> {
  const out = join(mkdtempSync(join(tmpdir(), 'deploy-')), 'files');
  await deployCommand.work?.({ kind, out }, PROGRAM);
  return out;
}

test('systemd takes the unit', async () => {
  const out = await deploy('systemd');
  expect(readdirSync(out).sort()).toEqual(['evidence-platform.service', 'platform.yaml']);
  const unit = join(out, 'evidence-platform.service');
  const said = execFileSync('systemd-analyze', ['verify', unit], { encoding: 'utf8', stdio: 'pipe' });
  expect(said).toBe('');
  expect(readFileSync(unit, 'utf8')).toMatch(/^ExecStart=.*evidence-platform\.cjs serve --config /m);
});

test('systemd takes the units of the sensor, which read their settings from its environment', async () => {
  const out = await deploy('sensor');
  const units = ['evidence-sensor-loop.service', 'evidence-sensor.service', 'evidence-sensor.timer'];
  expect(readdirSync(out).sort()).toEqual([units[0], 'evidence-sensor.mjs', ...units.slice(1)]);
  const paths = units.map((unit) => join(out, unit));
  expect(execFileSync('systemd-analyze', ['verify', ...paths], { encoding: 'utf8', stdio: 'pipe' })).toBe('');
  const [loop = '', once = ''] = paths.map((path) => readFileSync(path, 'utf8'));
  expect(once).toMatch(/^ExecStart=.*evidence-sensor\.mjs --once$/m);
  expect(loop).toMatch(/^ExecStart=.*evidence-sensor\.mjs$/m);
  for (const unit of [loop, once]) {
    expect(unit).toMatch(/^Environment=EVIDENCE_ENDPOINT_URL=/m);
    expect(unit).toMatch(/^Environment=EVIDENCE_ENDPOINT_TOKEN_FILE=%d\/endpoint-token$/m);
    // Default folder of the command.
    expect(unit).toMatch(/^StateDirectory=evidence-sensor$/m);
  }
});

test('the container is made of the package, and of what compose.yaml gives it', async () => {
  const out = await deploy('docker');
  const { name, version } = readManifest();
  const dockerfile = readFileSync(join(out, 'Dockerfile'), 'utf8');
  expect(dockerfile).toContain(`COPY ${name}-${version}.tgz `);
  const { services, secrets, volumes, networks } = parse(readFileSync(join(out, 'compose.yaml'), 'utf8'));
  const { postgres, platform } = services;
  expect(platform).toMatchObject({ secrets: Object.keys(secrets), networks: Object.keys(networks) });
  const mounted = [...platform.volumes, ...postgres.volumes].map((volume: string) => volume.split(':')[0]);
  expect(mounted.filter((volume) => !volume?.startsWith('.'))).toEqual(Object.keys(volumes));
  const config = readSettings(out);
  const [gateway] = networks.inside.ipam.config;
  expect(config).toMatchObject({ host: '0.0.0.0', port: 8181, trustedProxies: [gateway.gateway] });
  const { username, hostname, pathname } = new URL(config.postgresUrl ?? '');
  const made = postgres.environment;
  expect([username, pathname, hostname]).toEqual([made.POSTGRES_USER, `/${made.POSTGRES_DB}`, 'postgres']);
  expect(dockerfile).toContain(`VOLUME ${config.dataDir}\n`);
  expect(platform.volumes).toContain(`data:${config.dataDir}`);
});

test.each(['systemd', 'docker'] as const)('the settings for %s are settings', async (kind) => {
  expect(readSettings(await deploy(kind))).toMatchObject({ dataDir: '/var/lib/evidence-platform' });
});

test('what is there is left as it is, and nothing else is written', async () => {
  const out = await deploy('systemd');
  writeFileSync(join(out, 'platform.yaml'), 'mine');
  const again = deployCommand.work?.({ kind: 'docker', out }, PROGRAM);
  await expect(again).rejects.toThrow('platform.yaml exists already');
  expect([readdirSync(out).length, readFileSync(join(out, 'platform.yaml'), 'utf8')]).toEqual([2, 'mine']);
});

/** Parses a Dockerfile into instructions, with joined lines. */
function instructionsOf(dockerfile: string): [instruction: string, rest: string][] {
  const lines = dockerfile.replace(/^#.*\n/gm, '').replace(/\\\n\s*/g, '');
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => {
      const [, instruction = '', rest = ''] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      return [instruction, rest];
    });
}

test('each step of the container is one, and what it starts is there', async () => {
  const out = await deploy('docker');
  const steps = instructionsOf(readFileSync(join(out, 'Dockerfile'), 'utf8'));
  expect(steps.map(([instruction]) => instruction)).toEqual(
    'FROM COPY RUN USER VOLUME EXPOSE HEALTHCHECK ENV ENTRYPOINT CMD'.split(' '),
  );
  const step = Object.fromEntries(steps);
  const { engines, bin } = JSON.parse(readFileSync(packageFile('package.json'), 'utf8'));
  const [, major] = /^node:(\d+)-/.exec(step['FROM'] ?? '') ?? [];
  expect(`>=${major}`).toBe(engines.node);
  execFileSync('sh', ['-nc', step['RUN'] ?? '']);
  expect(step['RUN']).toContain(`/tmp/${step['COPY']?.split(' ')[0]} `);
  const [program = '', ...others] = JSON.parse(step['ENTRYPOINT'] ?? '');
  expect([Object.keys(bin).includes(program), others]).toEqual([true, []]);
  const [command, flag, config] = JSON.parse(step['CMD'] ?? '');
  expect([command, flag]).toEqual(['serve', '--config']);
  const { services } = parse(readFileSync(join(out, 'compose.yaml'), 'utf8'));
  expect(services.platform.volumes).toContain(`./platform.yaml:${config}:ro`);
  expect(step['EXPOSE']).toBe(String(readSettings(out).port));
});

test('the container is well while the platform is ready', async () => {
  const out = await deploy('docker');
  const { HEALTHCHECK = '' } = Object.fromEntries(instructionsOf(readFileSync(join(out, 'Dockerfile'), 'utf8')));
  const [, ...words] = JSON.parse(HEALTHCHECK.replace(/^.*? CMD /, ''));
  let status = 200;
  const asked: (string | undefined)[] = [];
  const server = createServer(({ url }, response) => {
    asked.push(url);
    response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const looks = async () => {
    const child = spawn(
      process.execPath,
      words.map((word: string) => word.replace(':8181/', `:${port}/`)),
    );
    return (await once(child, 'exit'))[0];
  };
  const well = await looks();
  status = 503;
  const ill = await looks();
  server.close();
  await once(server, 'close');
  expect([well, ill, await looks(), asked]).toEqual([0, 1, 1, ['/ready', '/ready']]);
});

/** The password is in the container. */
function readSettings(out: string) {
  const file = join(out, 'platform.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace(/^postgres_password_file: .*$/m, ''));
  return readPlatformConfig({ config: file }, {}, out);
}
