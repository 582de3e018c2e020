import { spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { CreateBucketCommand, PutBucketPolicyCommand, PutBucketVersioningCommand, S3Client } from '@aws-sdk/client-s3';
import { oncePerRun } from './once-per-run.ts';
import { freePort } from './ports.ts';
import { run } from './process.ts';

/** A real S3: Ceph's gateway over a cluster of one node, which keeps all data in memory. */
export interface Radosgw {
  /** Folder of the cluster. */
  folder: string;
  endpoint: string;
  tlsEndpoint: string;
  /** PEM file of the certificate authority. */
  caFile: string;
  /** Environment of an S3 client. */
  env: { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string; AWS_REGION: string };
}

export const KMS_KEY_ID = 'archive-key';

const ENV = {
  AWS_ACCESS_KEY_ID: 'EVIDENCETESTKEY01',
  AWS_SECRET_ACCESS_KEY: 'evidence-test-secret-0123456789abcdef',
  AWS_REGION: 'us-east-1',
};
const PROGRAMS = ['radosgw', 'radosgw-admin', 'ceph', 'ceph-mon', 'ceph-osd', 'monmaptool', 'ceph-authtool'];
const FOLDER = 'radosgw';
const START_WITHIN_MS = 60_000;

/** Returns the gateway of this test run. The first test that asks starts it, and the end of the run stops it. */
export function useRadosgw(): Promise<Radosgw> {
  return oncePerRun(FOLDER, (folder) => startRadosgw(folder));
}

export interface RadosgwOptions {
  /** Keeps objects in files of the folder instead of memory. */
  onDisk?: boolean;
}

/** Starts a gateway with its own cluster in an empty folder. */
export async function startRadosgw(folder: string, options: RadosgwOptions = {}): Promise<Radosgw> {
  const missing = PROGRAMS.filter(
    (program) => spawnSync(program, ['--version'], { timeout: 10_000 }).error !== undefined,
  );
  if (missing.length > 0)
    throw new Error(
      `${missing.join(', ')} missing: apt-get install --no-install-recommends radosgw ceph-mon ceph-osd ceph-base`,
    );
  const [monitor, port, tlsPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const fsid = randomUUID();
  for (const name of ['mon', 'osd', 'rgw', 'run', 'log']) mkdirSync(join(folder, name));
  const configuration = join(folder, 'ceph.conf');
  writeFileSync(configuration, settings({ folder, fsid, monitor, port, tlsPort, onDisk: options.onDisk === true }));
  const ceph = (program: string, ...args: string[]) => run(program, ['-c', configuration, ...args], folder);
  await makeCertificate(folder);
  await startMonitor(folder, fsid, monitor, ceph);
  await startStorage(folder, ceph);
  await ceph('radosgw', '-n', 'client.rgw');
  await ceph(
    'radosgw-admin',
    '-n',
    'client.rgw',
    'user',
    'create',
    '--uid=test',
    '--display-name=test',
    `--access-key=${ENV.AWS_ACCESS_KEY_ID}`,
    `--secret-key=${ENV.AWS_SECRET_ACCESS_KEY}`,
  );
  await waitFor('the gateway', () => answers(port));
  return {
    folder,
    endpoint: `http://127.0.0.1:${port}`,
    tlsEndpoint: `https://127.0.0.1:${tlsPort}`,
    caFile: join(folder, 'tls.pem'),
    env: ENV,
  };
}

type Ceph = (program: string, ...args: string[]) => Promise<string>;

async function startMonitor(folder: string, fsid: string, port: number, ceph: Ceph): Promise<void> {
  const [map, keyring] = [join(folder, 'monmap'), join(folder, 'keyring')];
  await run('monmaptool', ['--create', '--fsid', fsid, '--addv', 'a', `[v2:127.0.0.1:${port}]`, map], folder);
  await run('ceph-authtool', ['-C', keyring, '-n', 'mon.', '--gen-key', '--cap', 'mon', 'allow *'], folder);
  for (const [name, monitorCap] of [
    ['client.admin', 'allow *'],
    ['client.rgw', 'allow *'],
    ['osd.0', 'allow profile osd'],
  ] as const)
    await run(
      'ceph-authtool',
      [
        keyring,
        '-n',
        name,
        '--gen-key',
        '--cap',
        'mon',
        monitorCap,
        '--cap',
        'osd',
        'allow *',
        '--cap',
        'mgr',
        'allow *',
      ],
      folder,
    );
  await ceph('ceph-mon', '-i', 'a', '--mkfs', '--monmap', map, '--keyring', keyring);
  await ceph('ceph-mon', '-i', 'a');
}

async function startStorage(folder: string, ceph: Ceph): Promise<void> {
  const uuid = randomUUID();
  await ceph('ceph', '--connect-timeout', '20', 'osd', 'new', uuid, '0');
  await ceph('ceph-osd', '-i', '0', '--mkfs', '--osd-uuid', uuid);
  await ceph('ceph', 'osd', 'crush', 'add', 'osd.0', '1.0', 'host=localhost', 'root=default');
  await ceph('ceph-osd', '-i', '0');
  await waitFor('the storage', async () => ((await ceph('ceph', 'osd', 'stat')).includes('1 up') ? true : null));
  if (!existsSync(join(folder, 'run', 'osd.pid'))) throw new Error('the storage wrote no pid file');
}

interface Settings {
  folder: string;
  fsid: string;
  monitor: number;
  port: number;
  tlsPort: number;
  onDisk: boolean;
}

function settings({ folder, fsid, monitor, port, tlsPort, onDisk }: Settings): string {
  const store = onDisk
    ? ['osd_objectstore = bluestore', 'bluestore_block_size = 10737418240', 'osd_fast_shutdown = true']
    : ['osd_objectstore = memstore', 'memstore_device_bytes = 2147483648'];
  return [
    '[global]',
    `fsid = ${fsid}`,
    `mon_host = v2:127.0.0.1:${monitor}`,
    'public_addr = 127.0.0.1',
    'cluster_addr = 127.0.0.1',
    `keyring = ${folder}/keyring`,
    `run_dir = ${folder}/run`,
    `admin_socket = ${folder}/run/$name.asok`,
    `log_file = ${folder}/log/$name.log`,
    `crash_dir = ${folder}/log`,
    // The cluster has one node, which keeps one copy of each object.
    'osd_pool_default_size = 1',
    'osd_pool_default_min_size = 1',
    'mon_allow_pool_size_one = true',
    'osd_pool_default_pg_num = 1',
    'osd_pool_default_pgp_num = 1',
    'osd_pool_default_pg_autoscale_mode = off',
    'osd_crush_chooseleaf_type = 0',
    'mon_max_pg_per_osd = 1000',
    'paxos_propose_interval = 0.02',
    'paxos_min_wait = 0.01',
    'mon_data_avail_warn = 1',
    'mon_data_avail_crit = 1',
    '[mon.a]',
    `mon_data = ${folder}/mon`,
    `pid_file = ${folder}/run/mon.pid`,
    '[osd.0]',
    `osd_data = ${folder}/osd`,
    `pid_file = ${folder}/run/osd.pid`,
    'osd_memory_target = 939524096',
    ...store,
    '[client.rgw]',
    `rgw_data = ${folder}/rgw`,
    `pid_file = ${folder}/run/rgw.pid`,
    `rgw_frontends = beast endpoint=127.0.0.1:${port} ssl_endpoint=127.0.0.1:${tlsPort} ssl_certificate=${folder}/tls.pem ssl_private_key=${folder}/tls.key tcp_nodelay=1`,
    'rgw_enable_usage_log = false',
    'rgw_run_sync_thread = false',
    'rgw_crypt_require_ssl = false',
    'rgw_crypt_s3_kms_backend = testing',
    `rgw_crypt_s3_kms_encryption_keys = ${KMS_KEY_ID}=${Buffer.alloc(32, 7).toString('base64')}`,
    '',
  ].join('\n');
}

async function makeCertificate(folder: string): Promise<void> {
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', join(folder, 'tls.key'), '-out', join(folder, 'tls.pem')];
  await run(
    'openssl',
    [
      'req',
      '-x509',
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-days',
      '2',
      ...subject,
      ...files,
    ],
    folder,
  );
}

/** Ends the processes of a folder without saving anything. */
export function stopRadosgw(folder: string): void {
  const pids = join(folder, 'run');
  if (!existsSync(pids)) return;
  for (const name of readdirSync(pids).filter((file) => file.endsWith('.pid'))) {
    const pid = Number(readFileSync(join(pids, name), 'utf8'));
    try {
      if (pid > 1) process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
    rmSync(join(pids, name));
  }
}

/** Ends the gateway of a test run, if a test started it. */
export function stopSharedRadosgw(temporaryFolder: string): void {
  stopRadosgw(join(temporaryFolder, FOLDER));
}

/** Makes another identity, which has no rights before `allow`. */
export async function makeUser({ folder, env }: Radosgw, name: string): Promise<Radosgw['env']> {
  const keys = { AWS_ACCESS_KEY_ID: `KEY${name.toUpperCase()}`, AWS_SECRET_ACCESS_KEY: `secret-of-${name}-0123456789` };
  const user = ['user', 'create', `--uid=${name}`, `--display-name=${name}`];
  const pair = [`--access-key=${keys.AWS_ACCESS_KEY_ID}`, `--secret-key=${keys.AWS_SECRET_ACCESS_KEY}`];
  await run('radosgw-admin', ['-c', join(folder, 'ceph.conf'), '-n', 'client.rgw', ...user, ...pair], folder);
  return { ...env, ...keys };
}

/** A policy for an identity, as Amazon's IAM has it. */
export interface IdentityPolicy {
  Version: string;
  Statement: { Action: string | string[]; Resource: string | string[]; [more: string]: unknown }[];
}

/** Gives identities the rights of their policies, through a bucket policy, the only way that this store has. */
export async function allow(
  gateway: Radosgw,
  bucket: string,
  policies: Record<string, IdentityPolicy>,
  more: unknown[] = [],
): Promise<void> {
  const statements = Object.entries(policies).flatMap(([name, { Statement }]) =>
    Statement.map((statement) => ({ ...statement, Principal: { AWS: [`arn:aws:iam:::user/${name}`] } })),
  );
  // Two policies may use the same Sid.
  const unnamed = [...statements, ...more].map((statement, index) => ({ ...(statement as object), Sid: `S${index}` }));
  const client = adminClient(gateway);
  const Policy = JSON.stringify({ Version: '2012-10-17', Statement: unnamed });
  await client.send(new PutBucketPolicyCommand({ Bucket: bucket, Policy }));
  client.destroy();
}

let buckets = 0;

/** Makes a bucket with Object Lock, with versions, or with neither. */
export async function makeBucket({ endpoint, env }: Radosgw, kind: 'lock' | 'versioned' | 'plain'): Promise<string> {
  buckets += 1;
  const Bucket = `${kind}-${process.pid}-${buckets}-${Date.now()}`;
  const client = adminClient({ endpoint, env });
  await client.send(new CreateBucketCommand({ Bucket, ObjectLockEnabledForBucket: kind === 'lock' }));
  if (kind === 'versioned')
    await client.send(new PutBucketVersioningCommand({ Bucket, VersioningConfiguration: { Status: 'Enabled' } }));
  client.destroy();
  return Bucket;
}

/** Returns a client with all rights, for inspecting and tampering. */
export function adminClient({ endpoint, env }: Pick<Radosgw, 'endpoint' | 'env'>): S3Client {
  return new S3Client({
    endpoint,
    region: env.AWS_REGION,
    forcePathStyle: true,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    credentials: { accessKeyId: env.AWS_ACCESS_KEY_ID, secretAccessKey: env.AWS_SECRET_ACCESS_KEY },
  });
}

async function waitFor<T>(what: string, look: () => T | null | Promise<T | null>): Promise<T> {
  const until = Date.now() + START_WITHIN_MS;
  while (Date.now() < until) {
    const found = await look();
    if (found !== null) return found;
    await sleep(50);
  }
  throw new Error(`${what} did not start within ${START_WITHIN_MS / 1000} s`);
}

function answers(port: number): Promise<true | null> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(null)).on('connect', () => socket.destroy());
  });
}
