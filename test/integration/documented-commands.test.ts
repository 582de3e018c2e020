import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { initPlatform } from '../../src/platform/init.ts';
import { withParts } from '../../src/platform/parts.ts';
import { DebianArchive } from '../platform/endpoints/packages/debian-archive.ts';
import { SigningKey } from '../platform/endpoints/packages/signing-key.ts';
import { settingsOf } from '../platform/traps/decoy-places.ts';
import { type Acme, openAcme, type Place, servedIn, signing } from '../support/acme.ts';
import { type Fenced, fencedIn, nameOf, readDocuments } from '../support/documents.ts';
import { type ServedPlatform, servePlatform } from '../support/platform.ts';
import { type PostgresServer, startPostgres } from '../support/postgres.ts';
import { camel } from '../support/services/camel.ts';
import type { InventedService, ServiceKind } from '../support/services/invented-service.ts';
import { results } from '../support/services/results.ts';
import { someRows } from '../support/some-rows.ts';

// Each test runs several processes, on machines that do other work too.

let acme: Acme;
/** True to run `evidence` as a separate program too. */
const [isStarted = false] = someRows([false, true], () => 'evidence').slice(-1);
/** The platform of `platform/run`. */
let served = { apiKey: '', port: '' };
let postgres: PostgresServer | null = null;
/** The platform of `platform/agents` and `platform/endpoints`, with a registered agent and an enrolled endpoint. */
let platform: ServedPlatform | null = null;
let agentId = '';
let endpointId = '';
/** The archive of `platform/packages`. */
const archive = new DebianArchive();
const archiveKey = new SigningKey();
/** Output of the preceding block. */
let printed = '';
const services: InventedService[] = [];
/** Places that a document's blocks use, in order, by document. */
const places = new Map<string, Place[]>();

beforeAll(async () => {
  acme = await openAcme(isStarted);
});
afterAll(async () => {
  await Promise.all([acme.close(), ...services.map((service) => service.close())]);
  await postgres?.stop();
  await platform?.stop();
  archive.remove();
  archiveKey.remove();
});

/** Setting in which the blocks of a document run, one after another. */
interface Scene {
  open(): Place | Promise<Place>;
  /** Preparation of a block and its environment, by the block's number. */
  before?: Record<number, (place: Place) => Step | Promise<Step>>;
  /** Test files that run a block and read it from the document, by the block's number. */
  elsewhere?: Record<number, string>;
  /** Command lines that the stub programs receive. */
  recorded?: string[];
}

/** A new place, more variables, and replacements for words. */
interface Step {
  place?: Place;
  env?: Record<string, string>;
  words?: Record<string, string>;
}

const SCENES: Record<string, Scene> = {
  README: {
    open: () => acme.bare(),
    before: {
      3: () => ({ place: acme.filled() }),
      4: () => ({ place: acme.bare() }),
      5: (place) => {
        const { apiKey, port } = servedIn(place, printed);
        return { words: { sk_that_init_printed: apiKey, 8181: port } };
      },
    },
    recorded: [
      'npm ci',
      'npm start',
      'npm ci',
      'npm test',
      'npm ci',
      'npm pack',
      'npm install --global ./evidence-exporter-0.1.0.tgz',
    ],
  },
  distributed: { open: () => acme.bare(), elsewhere: { 0: 'distributed' } },
  encryption: {
    open: () => acme.filled(),
    before: {
      0: ({ folder }) => {
        for (const name of ['reader.key', 'evidence-archive', 'evidence.yaml'])
          rmSync(join(folder, name), { recursive: true, force: true });
        return {};
      },
      1: async ({ folder, run }) => {
        const recipient = (await run('age-keygen -y reader.key')).stdout.trim();
        writeFileSync(join(folder, 'evidence.yaml'), JSON.stringify({ archive: { encrypt_to: [recipient] } }));
        return {};
      },
    },
  },
  exporting: {
    open: () => acme.filled(),
    before: {
      // The stream is no longer listed, so there is a contradiction to accept.
      1: async ({ run }) => {
        const told = acme.service.streams.get('payments');
        acme.service.streams.delete('payments');
        const { code } = await run('evidence export --all-time');
        if (told !== undefined) acme.service.streams.set('payments', told);
        expect(code).toBe(1);
        return {};
      },
    },
  },
  operations: { open: () => acme.filled() },
  'platform/agents': {
    open: () => onPlatform(),
    before: {
      0: () => ofPlatform(),
      1: () => {
        agentId = JSON.parse(printed).agent_id;
        return ofAgent();
      },
      ...Object.fromEntries([2, 3, 4, 5, 6, 7].map((index) => [index, ofAgent])),
      8: () => {
        const jose = pathToFileURL(createRequire(import.meta.url).resolve('jose')).href;
        return {
          words: { ...ofPlatform().words, "'jose'": `'${jose}'`, 'node verify': `"${process.execPath}" verify` },
        };
      },
    },
  },
  'platform/authority': {
    open: () => initialised(),
    before: { 0: () => ({ words: { 'https://tsa.example.com/tsr': acme.authority.url } }) },
  },
  'platform/backup': {
    open: () => initialised(),
    elsewhere: { 1: 'postgres-backup' },
  },
  'platform/endpoints': {
    open: () => onPlatform(),
    before: {
      1: () => ({
        ...ofPlatform(),
        words: { ...ofPlatform().words, '"web-1"': '"web-1", "roots": ["/usr/local/bin"]' },
      }),
      2: ({ folder }) => {
        const { endpoint_id, endpoint_token } = JSON.parse(printed);
        endpointId = endpoint_id;
        const token = join(folder, 'endpoint-token');
        writeFileSync(token, endpoint_token);
        const words = {
          ...ofPlatform().words,
          '/etc/evidence/endpoint-token': token,
          '--once': '--once --state ./state',
          'node deploy/': `${process.execPath} deploy/`,
        };
        return { words };
      },
      3: () => ({ words: ofPlatform().words, env: { ...ofPlatform().env, ENDPOINT_ID: endpointId } }),
    },
  },
  'platform/keys': {
    open: () => initialised(),
    before: {
      0: async ({ run }) => {
        const { stdout } = await run('evidence-platform keys create --data ./data --name other --scope audit:read');
        return { words: { $KEY_ID: /^sk_(.{8})_/.exec(stdout)?.[1] ?? '' } };
      },
    },
  },
  'platform/packages': {
    open: () => initialised(),
    before: {
      0: async () => {
        const deb = await archive.add({ name: 'nginx', version: '1.22.1-9', entries: [{ name: './usr/sbin/nginx' }] });
        archive.publish(archiveKey);
        return {
          words: {
            'import --data': `import --keyring ${archiveKey.keyring} --data`,
            '/var/lib/apt/lists /var/cache/apt/archives': archive.root,
            './mirror': archive.root,
            './nginx_1.22.1-9_amd64.deb': deb,
          },
        };
      },
    },
  },
  'platform/tampering': { open: () => initialised() },
  'platform/people': {
    open: () => initialised(),
    before: {
      1: async ({ folder }) => {
        await withParts(
          { dataDir: join(folder, 'data') },
          async ({ accounts: { joining, links }, database, clock }) => {
            for (const email of ['ada@example.com', 'ben@example.com', 'cyd@example.com']) {
              const made = database.write((transaction) =>
                links.make(transaction, 'invite', { email, role: 'owner' }, clock()),
              );
              const joiner = { name: 'Somebody', password: 'a long walk by the sea' };
              await joining.accept(links.token(await made), joiner);
            }
          },
        );
        return {};
      },
    },
  },
  'platform/postgresql': {
    open: () => acme.bare(),
    before: { 0: async () => ({ words: { 'postgres://platform@127.0.0.1:5432/audit': await openDatabase() } }) },
    recorded: ['createuser platform', 'createdb --owner platform --encoding UTF8 --template template0 audit'],
  },
  'platform/run': {
    open: () => acme.bare(),
    before: {
      1: (place) => {
        served = servedIn(place, printed);
        return {};
      },
      2: () => ({ env: { EVIDENCE_API_KEY: served.apiKey }, words: { 8181: served.port } }),
    },
  },
  'platform/traps': {
    open: () => acme.bare(),
    before: { 0: () => ({ env: { EVIDENCE_API_KEY: served.apiKey }, words: { 8181: served.port } }) },
  },
  'platform/upgrade': { open: () => initialised() },
  probe: {
    open: () => acme.bare(),
    before: {
      0: async () => ({ env: await differing(camel) }),
      1: async ({ folder }) => {
        const env = await differing(results);
        const [[id = '', key = ''] = []] = Object.entries(services.at(-1)?.sealKeys ?? {});
        writeFileSync(join(folder, 'k1.key'), key);
        return { env, words: { 'k1=k1.key': `${id}=k1.key` } };
      },
    },
  },
  schedule: {
    open: () => acme.filled(),
    before: {
      3: ({ folder }) => {
        writeFileSync(join(folder, 'api-key'), 'sk_of_acme_0123456789');
        return {};
      },
    },
    recorded: [
      'crontab deploy/crontab',
      'sudo cp deploy/evidence-export.service deploy/evidence-upkeep.service deploy/evidence-export.timer deploy/evidence-upkeep.timer /etc/systemd/system/',
      'sudo systemctl enable --now evidence-export.timer evidence-upkeep.timer',
      'systemctl list-timers evidence-*',
      'kubectl create configmap evidence --from-file=evidence.yaml',
      'kubectl create secret generic evidence --from-file=api-key',
      'kubectl apply --filename deploy/cronjob.yaml',
    ],
  },
  s3: {
    open: () => acme.bare(),
    before: {
      2: async ({ folder }) => ({ place: await acme.inS3(), env: await acme.writer(folder) }),
    },
    recorded: [
      'aws s3api create-bucket --bucket acme-evidence --object-lock-enabled-for-bucket',
      'aws s3api put-bucket-policy --bucket acme-evidence --policy file://deploy/bucket-policy.json',
      ...['writer', 'auditor', 'administrator'].map(
        (who) =>
          `aws iam put-user-policy --user-name evidence-${who} --policy-name evidence --policy-document file://deploy/${who}-policy.json`,
      ),
    ],
  },
  share: {
    open: () => acme.filled(),
    before: {
      1: async () => ({ place: await acme.inS3() }),
      2: (place) => ({ place: places.get('share')?.[0] ?? place }),
    },
  },
  signatures: {
    open: () => acme.bare(),
    before: {
      1: () => ({ place: acme.filled() }),
      3: async () => {
        const place = acme.filled();
        const config = join(place.folder, 'evidence.yaml');
        rmSync(join(place.folder, 'evidence-archive'), { recursive: true });
        writeFileSync(config, '{}');
        expect((await place.run('evidence export --period 2026-09')).code).toBe(0);
        writeFileSync(config, JSON.stringify({ sign: signing(acme.authority) }));
        return { place };
      },
      4: () => ({ place: acme.filled() }),
    },
    elsewhere: { 5: 'signing' },
  },
  'verify-by-hand': { open: () => acme.bare(), elsewhere: { 0: 'tools', 1: 'demo' } },
  verifying: { open: () => acme.filled() },
};

/** Creates a place with a data folder of the platform. */
async function initialised(): Promise<Place> {
  const place = acme.bare();
  await initPlatform({ dataDir: join(place.folder, 'data') }, { isRecorded: true });
  return place;
}

/** Creates an empty place beside a platform that runs until the end. */
async function onPlatform(): Promise<Place> {
  platform ??= await servePlatform({ decoys: [settingsOf({ kind: 'aws' })] });
  return acme.bare();
}

/** Settings for the topic on agents: its platform and its agent. */
function ofAgent() {
  const { words, env } = ofPlatform();
  return { words, env: { ...env, AGENT_ID: agentId } };
}

/** Settings for topics on the platform. */
function ofPlatform() {
  const { auditUrl = '', apiKey = '' } = platform ?? {};
  return {
    words: { 'https://evidence.example.org': auditUrl.replace(/\/audit$/, '') },
    env: { EVIDENCE_API_KEY: apiKey },
  };
}

/** Returns the address of an empty database. */
async function openDatabase(): Promise<string> {
  postgres ??= await startPostgres();
  return postgres.createDatabase();
}

/** Starts a service of another kind, which runs until the end, and returns its settings. */
async function differing(kind: ServiceKind): Promise<Record<string, string>> {
  const apiKey = 'sk_of_another_service';
  const service = await kind.start({ apiKey });
  services.push(service);
  return { EVIDENCE_AUDIT_URL: service.auditUrl, EVIDENCE_API_KEY: apiKey };
}

const documents = readDocuments().filter((document) => fencedIn(document).some(({ language }) => language === 'sh'));

test('every document with lines for the shell has a scene, and every scene a document', () => {
  expect(documents.map(({ path }) => nameOf(path)).sort()).toEqual(Object.keys(SCENES).sort());
});

describe.each(documents.map((document) => [nameOf(document.path), document] as const))('%s', (name, document) => {
  const scene = SCENES[name];
  let place: Place;
  const visited: Place[] = [];
  places.set(name, visited);

  beforeAll(async () => {
    if (scene !== undefined) place = await scene.open();
  });

  test.each(fencedIn(document).filter(({ language }) => language === 'sh'))('block $index', async (block) => {
    const elsewhere = scene?.elsewhere?.[block.index];
    if (elsewhere !== undefined) return expectReader(elsewhere, block);
    const step = (await scene?.before?.[block.index]?.(place)) ?? {};
    place = step.place ?? place;
    if (!visited.includes(place)) visited.push(place);
    const words = Object.entries(step.words ?? {});
    const text = words.reduce((said, [from, to]) => said.replaceAll(from, to), block.text);
    const { code, stdout, stderr } = await place.run(text, step.env);
    expect(code, `${stderr}${stdout.slice(-2000)}`).toBe(0);
    printed = stdout;
  });

  test('starts no other programs than are listed', () => {
    const recorded = visited.flatMap((one) => one.recorded());
    expect(recorded.map((line) => line.replaceAll(/postgres:\S+/g, 'DATABASE'))).toEqual(scene?.recorded ?? []);
  });
});

/** Expects a test that runs a block elsewhere to read it from the document. */
function expectReader(name: string, { path, index }: Fenced): void {
  const text = readFileSync(join(import.meta.dirname, `${name}.test.ts`), 'utf8');
  expect(text).toContain(`shellLines('${nameOf(path)}', ${index})`);
}

test('the lines for a crontab are lines of a crontab, and what they run ends well', async () => {
  const crontabs = readDocuments()
    .flatMap(fencedIn)
    .filter(({ language }) => language === 'crontab');
  expect(crontabs).not.toEqual([]);
  for (const line of crontabs.flatMap(({ text }) => text.trim().split('\n'))) {
    const [, fields = '', command = ''] = /^((?:[\d*,/-]+ +){5})([^%]+)$/.exec(line) ?? [];
    expect(fields, line).not.toBe('');
    const place = acme.filled();
    const { code, stderr } = await place.run(`sh -c '${command.replace('/srv/evidence', place.folder)}'`);
    expect(code, stderr).toBe(0);
  }
});
