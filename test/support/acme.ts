import { randomUUID } from 'node:crypto';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CreateBucketCommand } from '@aws-sdk/client-s3';
import { slugOf } from '../../src/verifier/bundle/layout.ts';
import { addMonths, lastEndedMonth } from '../../src/verifier/records/months.ts';
import { ageKey } from './age.ts';
import { makeCalledEvidence } from './called-evidence.ts';
import { entryAfter, packageOf, SEAL_KEY, type SentEntry } from './chain.ts';
import { type FalseService, startFalseService } from './false-service.ts';
import { builtFolder, type Finished, runToEnd } from './process.ts';
import { adminClient, allow, makeUser, type Radosgw, useRadosgw } from './radosgw.ts';
import { type OpensslAuthority, startOpensslAuthority } from './tsa.ts';

/** Months in the documents, and the months that replace them: the last one that ended, and its neighbors. */
const LAST = lastEndedMonth(new Date());
const MONTHS: Record<string, string> = {
  '2026-09': addMonths(LAST, -1),
  '2026-10': LAST,
  '2026-11': addMonths(LAST, 1),
};

/** Programs that tests must not start. Stubs record their arguments and check that the files named exist. */
const RECORDED = ['aws', 'createdb', 'createuser', 'crontab', 'kubectl', 'npm', 'sudo', 'systemctl'];

/** A folder in which a reader of the documents works. */
export interface Place {
  folder: string;
  /** Runs a script in a shell that stops at the first failing command. */
  run(script: string, env?: Record<string, string>): Promise<Finished>;
  /** Command lines of the stub programs, one per line. */
  recorded(): string[];
}

/** The documents' company: its service, its authority, its archives. */
export interface Acme {
  service: FalseService;
  authority: OpensslAuthority;
  /** Creates an empty folder. */
  bare(): Place;
  /** Creates a signed and timestamped archive with a run of the last month, its keys, a bundle and a package. */
  filled(): Place;
  /** Creates the same archive in S3. */
  inS3(): Promise<Place>;
  /** Creates a user whose rights in the bucket are the policies that `evidence init` wrote into a folder. */
  writer(folder: string): Promise<Record<string, string>>;
  close(): Promise<void>;
}

/** @param isStarted true to run `evidence` as a separate process, as users do; false to run it in this one. */
export async function openAcme(isStarted: boolean): Promise<Acme> {
  const home = mkdtempSync(join(tmpdir(), 'acme-'));
  // A unique bucket replaces `acme-evidence`, because other tests use the same store.
  const bucket = `acme-evidence-${randomUUID()}`;
  const service = await startFalseService();
  for (const id of ['payments', 'logins', 'prod/api']) service.streams.set(id, { entries: entriesOf(id) });
  const authority = await startOpensslAuthority(join(home, 'authority'), 800);
  const bin = makePrograms(home);
  const called = isStarted ? null : await makeCalledEvidence(join(bin, 'evidence'));
  const env = { EVIDENCE_AUDIT_URL: service.url, EVIDENCE_API_KEY: 'sk_of_acme_0123456789' };
  const served: string[] = [];
  const bare = () => {
    const folder = mkdtempSync(join(home, 'place-'));
    served.push(folder);
    return placeIn(folder, bin, env, { service, bucket });
  };
  const copyOf = (template: string) => {
    const place = bare();
    cpSync(template, place.folder, { recursive: true });
    return place;
  };
  const template = await fill(bare(), authority);
  let gateway: Promise<Radosgw> | null = null;
  return {
    service,
    authority,
    bare,
    filled: () => copyOf(template),
    inS3: async () => {
      gateway ??= fillBucket(bucket, copyOf(template));
      const { endpoint, env: keys } = await gateway;
      const place = copyOf(template);
      configureS3(place.folder, bucket, endpoint);
      return {
        ...place,
        run: (script, more) => place.run(script, { ...keys, EVIDENCE_CONFIG: 'evidence.yaml', ...more }),
      };
    },
    writer: async (folder) => {
      const store = await useRadosgw();
      const keys = await makeUser(store, 'acmewriter');
      const policy = JSON.parse(readFileSync(join(folder, 'deploy/writer-policy.json'), 'utf8'));
      await allow(store, bucket, { acmewriter: policy });
      return keys;
    },
    close: async () => {
      for (const folder of served) stopServing(folder);
      called?.close();
      await Promise.all([authority.close(), service.close()]);
    },
  };
}

function entriesOf(stream_id: string): SentEntry[] {
  const entries: SentEntry[] = [];
  for (const month of [MONTHS['2026-09'], LAST])
    for (const day of ['05', '15'])
      entries.push(entryAfter(entries.at(-1) ?? null, { stream_id, timestamp: `${month}-${day}T12:00:00.000Z` }));
  return entries;
}

/** Makes a folder of programs for the shell: `evidence`, and stubs that record their arguments. */
function makePrograms(home: string): string {
  const bin = join(home, 'bin');
  mkdirSync(bin);
  const make = (name: string, text: string) => {
    writeFileSync(join(bin, name), `#!/bin/sh\n${text}\n`);
    chmodSync(join(bin, name), 0o755);
  };
  const start = (name: string) => `"${process.execPath}" "${join(builtFolder(), 'dist/start', `${name}.cjs`)}"`;
  make('evidence', `exec ${start('evidence')} "$@"`);
  // Serves on a free port in the background, until the test ends.
  const serve = `: > served; ${start('evidence-platform')} "$@" --port 0 >> served 2>&1 & echo $! >> served.pid
  tail -n +1 -f --pid=$! served | grep -q -m 1 listening; exit`;
  make('evidence-platform', `if [ "$1" = serve ]; then\n  ${serve}\nfi\nexec ${start('evidence-platform')} "$@"`);
  const lookAtFiles = `for word; do
  file=\${word#--from-file=}; file=\${file#file://}
  case $word in file://*|--from-file=*|deploy/*) test -e "$file" || { echo "there is no $file" >&2; exit 9; };; esac
done`;
  for (const name of RECORDED) make(name, `${lookAtFiles}\necho "${name} $*" >> "$RECORDED"`);
  return bin;
}

function placeIn(
  folder: string,
  bin: string,
  env: Record<string, string>,
  { service, bucket }: { service: FalseService; bucket: string },
): Place {
  const recorded = join(folder, '.recorded');
  const meant = { ...MONTHS, 's3://acme-evidence': `s3://${bucket}`, 'https://audit.example.com': service.url };
  return {
    folder,
    recorded: () => (existsSync(recorded) ? readFileSync(recorded, 'utf8').trimEnd().split('\n') : []),
    run: (script, more = {}) => {
      const text = Object.entries(meant).reduce((said, [name, value]) => said.replaceAll(name, value), script);
      const PATH = `${bin}:/usr/bin:/bin`;
      const variables = { ...env, RECORDED: recorded, NODE_COMPILE_CACHE: join(bin, 'compiled'), ...more, PATH };
      return runToEnd('bash', ['-euxo', 'pipefail', '-c', text], { cwd: folder, env: variables });
    },
  };
}

/** Fills an empty place, and returns its folder. */
async function fill({ folder, run }: Place, authority: OpensslAuthority): Promise<string> {
  cpSync(authority.rootFile, join(folder, 'stamp-roots.pem'));
  writeFileSync(
    join(folder, 'evidence.yaml'),
    JSON.stringify({ archive: { url: './evidence-archive' }, sign: signing(authority) }),
  );
  writeFileSync(join(folder, 'k1.key'), SEAL_KEY);
  writeFileSync(
    join(folder, 'evidence.json'),
    JSON.stringify(packageOf(entriesOf('payments'), { stream: { stream_id: 'payments' } })),
  );
  ageKey(folder, 'reader');
  const made = await run('evidence keygen --out signing.pem; evidence export --period 2026-10');
  if (made.code !== 0) throw new Error(`no archive could be made: ${made.stdout}${made.stderr}`);
  const name = `${slugOf('payments')}.zip`;
  cpSync(join(folder, 'evidence-archive/runs', LAST, 'streams', name), join(folder, name));
  return folder;
}

/** An event as CloudTrail delivers it. */
const EVENT = {
  eventVersion: '1.08',
  userIdentity: { type: 'IAMUser', userName: 'alice' },
  eventTime: '2024-05-01T10:00:00Z',
  eventSource: 'iam.amazonaws.com',
  eventName: 'GetUser',
  awsRegion: 'us-east-1',
  requestParameters: null,
  eventID: 'e-1',
};

/**
 * Reads the address and key of the platform served in a place, and adds events to it.
 * @param printed output of `evidence-platform init`.
 */
export function servedIn({ folder }: Place, printed: string): { apiKey: string; port: string } {
  writeFileSync(join(folder, 'events.json.gz'), gzipSync(`${JSON.stringify(EVENT)}\n`));
  const said = readFileSync(join(folder, 'served'), 'utf8');
  const [, port] = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(said) ?? [];
  const [apiKey] = /sk_\w+/.exec(printed) ?? [];
  if (port === undefined || apiKey === undefined) throw new Error(`no platform is served: ${printed}${said}`);
  return { apiKey, port };
}

/** Ends the platforms that were served in a place. */
function stopServing(folder: string): void {
  const file = join(folder, 'served.pid');
  const ids = existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [];
  for (const id of ids) process.kill(Number(id));
}

/** Returns the `sign` section of the configuration. */
export function signing({ url }: OpensslAuthority): Record<string, string> {
  return { key_file: 'signing.pem', tsa_url: url, tsa_roots: 'stamp-roots.pem' };
}

/** Creates the bucket and exports a run into it. */
async function fillBucket(bucket: string, { folder, run }: Place): Promise<Radosgw> {
  const gateway = await useRadosgw();
  const client = adminClient(gateway);
  await client.send(new CreateBucketCommand({ Bucket: bucket, ObjectLockEnabledForBucket: true }));
  client.destroy();
  configureS3(folder, bucket, gateway.endpoint);
  const { code, stderr } = await run('evidence export --period 2026-10', gateway.env);
  if (code !== 0) throw new Error(`nothing could be exported into S3: ${stderr}`);
  return gateway;
}

/** Sets the bucket in a place's configuration. */
function configureS3(folder: string, bucket: string, endpoint: string): void {
  const file = join(folder, 'evidence.yaml');
  const retention = { mode: 'governance', years: 7, max_years: 30 };
  const archive = { url: `s3://${bucket}/prod`, endpoint, retention };
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), archive }));
}
