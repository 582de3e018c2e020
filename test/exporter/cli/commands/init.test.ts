import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { EXIT_CODES } from '../../../../src/core/terminal/exit.ts';
import { runInit } from '../../../../src/exporter/cli/commands/init.ts';
import { carryOut } from '../../../support/command.ts';
import { run, runToEnd } from '../../../support/process.ts';

const FLAGS = { mode: 'compliance', years: 7 };
/** Creates a folder whose name has special characters for cron, systemd and a shell. */
const folder = (): string => {
  const path = join(mkdtempSync(join(tmpdir(), 'init-')), "it's 100 % $HOME");
  mkdirSync(path);
  return path;
};
const init = (flags: object, directory = folder()) =>
  carryOut(runInit as never, { ...FLAGS, ...flags }, directory).then((answer) => ({ ...answer, directory }));
const inDeploy = (directory: string, name: string) => readFileSync(join(directory, 'deploy', name), 'utf8');

/** Writes a stub for `evidence`, which exits with the code that the test gives. */
function makeStub(directory: string): string {
  const stub = join(directory, 'evidence');
  writeFileSync(stub, '#!/bin/sh\necho "stub $*"\nexit "$STUB_CODE"\n');
  chmodSync(stub, 0o755);
  return stub;
}

describe('what makes no sense is not written', () => {
  test.each<[flags: object, says: RegExp]>([
    [{ 'audit-url': 'nonsense' }, /--audit-url has no http:/],
    [{ archive: 'gs://x/y' }, /unknown kind of archive/],
    [{ archive: 's3:/b/p' }, /without \/\/ after the colon/],
    [{ archive: 's3://B_UP/p' }, /the bucket name is not valid/],
    [{ archive: 's3://10.0.0.1/p' }, /the bucket name is not valid/],
    [{ archive: 's3://abc', endpoint: 'nonsense' }, /--endpoint has no http:/],
    [{ archive: 's3://abc', 'kms-key': 'alias/evidence' }, /--kms-key is not the ARN of a key/],
    [{ archive: 's3://abc', 'kms-key': 'arn:aws:kms:eu-central-1:111122223333:alias/x' }, /is not the ARN of a key/],
    [{ region: 'eu-central-1' }, /--region has no effect on an archive in a folder/],
    [{ years: 0 }, /--years is not/],
  ])('%j', async (flags, says) => {
    const { code, said, directory } = await init(flags);
    expect([code, said]).toEqual([2, expect.stringMatching(says)]);
    expect(readdirSync(directory)).toEqual([]);
  });
});

test.each<[flags: object, region: string | undefined]>([
  [{ region: 'eu-central-1' }, 'eu-central-1'],
  [{ endpoint: 'http://store.example' }, 'us-east-1'],
  [{}, undefined],
])('the region of a bucket, with %j', async (flags, region) => {
  const { directory } = await init({ archive: 's3://abc/p', ...flags });
  expect(parse(readFileSync(join(directory, 'evidence.yaml'), 'utf8')).archive.region).toBe(region);
});

describe('a schedule', () => {
  test('is made for the configuration that is there, which stays as it is', async () => {
    const directory = folder();
    writeFileSync(join(directory, 'evidence.yaml'), 'sign: { tsa_url: "http://tsa.example", tsa_roots: r.pem }\n');
    const { code, document } = await init({ cron: true, systemd: true, kubernetes: true }, directory);
    expect([code, document.written.includes('evidence.yaml')]).toEqual([0, false]);
    for (const name of ['crontab', 'evidence-upkeep.service', 'cronjob.yaml'])
      expect(inDeploy(directory, name)).toMatch(/^[^#]*restamp --all$/m);
  });

  test('renews no stamps where none are made, and nothing is set that has no effect', async () => {
    const { directory } = await init({ cron: true, systemd: true, kubernetes: true });
    for (const name of ['crontab', 'evidence-upkeep.service', 'cronjob.yaml'])
      expect(inDeploy(directory, name)).not.toMatch(/^[^#]*restamp --all$/m);
    const again = await init({ cron: true, archive: './other' }, directory);
    expect([again.code, again.said]).toEqual([2, expect.stringMatching(/--archive would have no effect/)]);
    expect((await init({ cron: true }, directory)).said).toMatch(/crontab, .* exist; nothing was written/);
  });
});

test('stamps are renewed however the doctor ends, and the worse end of the two counts', async () => {
  const directory = folder();
  writeFileSync(join(directory, 'evidence.yaml'), 'sign: { tsa_url: "http://tsa.example", tsa_roots: r.pem }\n');
  expect((await init({ systemd: true, kubernetes: true }, directory)).code).toBe(0);
  // systemd.service(5): after a failed ExecStart=, systemd runs ExecStopPost= but no later ExecStart=.
  expect(inDeploy(directory, 'evidence-upkeep.service')).toMatch(
    /^ExecStart=.* doctor\n(#.*\n)*ExecStopPost=.* restamp --all$/m,
  );
  const [, upkeep] = parseAllDocuments(inDeploy(directory, 'cronjob.yaml'));
  const [{ command }] = upkeep?.toJS().spec.jobTemplate.spec.template.spec.containers ?? [];
  const stub = join(directory, 'evidence');
  writeFileSync(stub, '#!/bin/sh\necho "$*"\nif [ "$1" = doctor ]; then exit "$DOCTOR"; fi\nexit "$RESTAMP"\n');
  chmodSync(stub, 0o755);
  for (const [DOCTOR, RESTAMP, ends] of [
    ...[['0', '0', 0] as const, ['3', '0', 3] as const, ['0', '3', 3] as const, ['3', '4', 3] as const],
    ...[['4', '3', 3] as const, ['3', '1', 1] as const, ['2', '3', 2] as const, ['5', '0', 5] as const],
    ...[['0', '4', 0] as const, ['3', '70', 70] as const, ['70', '0', 70] as const],
  ]) {
    const env = { DOCTOR, RESTAMP, PATH: `${directory}:/usr/bin:/bin` };
    const ended = await runToEnd(command[0], command.slice(1), { cwd: directory, env });
    expect([DOCTOR, RESTAMP, ended.code, ended.stdout]).toEqual([DOCTOR, RESTAMP, ends, 'doctor\nrestamp --all\n']);
  }
});

test('units and jobs use the files that evidence.yaml names, and nothing outweighs them', async () => {
  const directory = folder();
  const configuration = `source: { api_key_file: /etc/acme/key, tls: { ca_file: tls/ca.pem } }
verify: { seal_keys: /etc/acme/seal-keys, timestamp_roots: roots.pem, public_keys: [old.pub] }
sign: { key_file: keys/signing.pem, passphrase_file: /run/passphrase, tsa_roots: roots.pem }
report: { controls: [soc2, own.yaml] }
`;
  writeFileSync(join(directory, 'evidence.yaml'), configuration);
  expect((await init({ cron: true, systemd: true, kubernetes: true }, directory)).code).toBe(0);
  for (const name of ['evidence-cron.sh', 'evidence-export.service', 'evidence-upkeep.service', 'cronjob.yaml'])
    expect(inDeploy(directory, name)).not.toContain('EVIDENCE_API_KEY_FILE');
  for (const document of parseAllDocuments(inDeploy(directory, 'cronjob.yaml'))) {
    const { volumeMounts } = document.toJS().spec.jobTemplate.spec.template.spec.containers[0];
    const mounted = volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
    for (const path of ['/etc/acme/key', '/etc/acme/seal-keys', '/evidence/tls/ca.pem', '/evidence/roots.pem'])
      expect(mounted).toContain(path);
    for (const path of ['/evidence/old.pub', '/evidence/keys/signing.pem', '/run/passphrase', '/evidence/own.yaml'])
      expect(mounted).toContain(path);
    expect(new Set(mounted).size).toBe(mounted.length);
  }
  expect(inDeploy(directory, 'cronjob.yaml')).toMatch(
    /create secret .* --from-file=1-key=\/etc\/acme\/key --from-file=/,
  );
});

test.each([
  ['/var/tmp/evidence', '/var/tmp/evidence', 'no'],
  ['work', '/evidence/work', '(yes|no)'],
  ['/srv/work', '/srv/work', 'yes'],
  [undefined, '/work', 'yes'],
])('the work directory %j of evidence.yaml is there for units and jobs', async (work, mounted, isPrivate) => {
  const directory = folder();
  writeFileSync(join(directory, 'evidence.yaml'), JSON.stringify(work === undefined ? {} : { work_directory: work }));
  expect((await init({ systemd: true, kubernetes: true }, directory)).code).toBe(0);
  for (const document of parseAllDocuments(inDeploy(directory, 'cronjob.yaml'))) {
    const [{ volumeMounts, env }] = document.toJS().spec.jobTemplate.spec.template.spec.containers;
    expect(volumeMounts).toContainEqual({ name: 'work', mountPath: mounted });
    expect(env).toContainEqual({ name: 'TMPDIR', value: mounted });
  }
  // This test's folder may be inside the folder for temporary files.
  for (const name of ['evidence-export.service', 'evidence-upkeep.service'])
    expect(inDeploy(directory, name)).toMatch(new RegExp(`^PrivateTmp=${isPrivate}$`, 'm'));
});

describe('the line of a crontab', () => {
  const commandsOf = (directory: string) =>
    inDeploy(directory, 'crontab')
      .split('\n')
      .flatMap((line) => /^(?:[\d*-]+ +){5}(.*)$/.exec(line)?.[1]?.replaceAll('\\%', '%') ?? []);

  test.each([
    [0, ''],
    [1, 'tells'],
    [3, 'tells'],
    [4, ''],
    [70, 'tells'],
  ])('says what cron is to mail when the program ends with %j: %j', async (code, tells) => {
    const { directory } = await init({ cron: true });
    const script = inDeploy(directory, 'evidence-cron.sh').replace(/\$\(.* "\$@"/, `$(./evidence "$@"`);
    writeFileSync(join(directory, 'deploy/evidence-cron.sh'), script);
    makeStub(directory);
    const [exporting = ''] = commandsOf(directory);
    const ended = await runToEnd('sh', ['-c', exporting], { cwd: '/', env: { STUB_CODE: `${code}` } });
    expect(ended).toMatchObject({ code, stderr: '' });
    expect(ended.stdout).toBe(
      tells === '' ? '' : `stub export --missing --quiet\nevidence export --missing ended with exit code ${code}\n`,
    );
  });

  test('starts this program in its folder', async () => {
    const { directory } = await init({ cron: true });
    const [exporting = ''] = commandsOf(directory);
    const ended = await runToEnd('sh', ['-c', exporting], { cwd: '/', env: { PATH: '/usr/bin:/bin' } });
    expect(ended.stdout).toMatch(/the API key.* \/etc/);
    expect(ended.code).toBe(2);
  });
});

test('systemd takes its services and timers', async () => {
  const { directory } = await init({ systemd: true });
  const names = readdirSync(join(directory, 'deploy')).map((name) => join(directory, 'deploy', name));
  expect(names).toHaveLength(4);
  const { code, stdout, stderr } = await runToEnd('systemd-analyze', ['verify', ...names], { cwd: directory });
  expect([code, stdout, stderr]).toEqual([0, '', '']);
  const calendars = names.flatMap((name) => /^OnCalendar=(.*)$/m.exec(readFileSync(name, 'utf8'))?.[1] ?? []);
  await run('systemd-analyze', ['calendar', ...calendars], directory);
  expect(calendars).toEqual([expect.stringMatching(/ UTC$/), expect.stringMatching(/ UTC$/)]);
});

describe.each([{}, { archive: 's3://abc/p' }])('the jobs of Kubernetes, with %j', (flags) => {
  test('are CronJobs that end as the program does, and well where nothing was there to check', async () => {
    const { directory } = await init({ kubernetes: true, ...flags });
    makeStub(directory);
    const documents = parseAllDocuments(inDeploy(directory, 'cronjob.yaml')).map((one) => {
      expect(one.errors).toEqual([]);
      return one.toJS();
    });
    expect(documents.map(({ kind, spec }) => [kind, spec.timeZone])).toEqual([
      ['CronJob', 'Etc/UTC'],
      ['CronJob', 'Etc/UTC'],
    ]);
    for (const { spec } of documents) {
      const { podFailurePolicy, template } = spec.jobTemplate.spec;
      const [rule] = podFailurePolicy.rules;
      const known = EXIT_CODES.map(([code]) => code).filter((code) => ![0, 3, 4].includes(code) && code < 128);
      expect(rule.onExitCodes.values).toEqual(known);
      const [{ command, volumeMounts }] = template.spec.containers;
      const mounted = (volumeMounts as { name: string }[]).map(({ name }) => name);
      expect(mounted.toSorted()).toEqual(template.spec.volumes.map(({ name }: { name: string }) => name).toSorted());
      expect(mounted.includes('archive')).toBe(!('archive' in flags));
      for (const [code, ends] of [
        [0, 0],
        [3, 3],
        [4, 0],
        [70, 70],
      ]) {
        const env = { STUB_CODE: `${code}`, PATH: `${directory}:/usr/bin:/bin` };
        expect(await runToEnd(command[0], command.slice(1), { cwd: directory, env })).toMatchObject({ code: ends });
      }
    }
  });
});
