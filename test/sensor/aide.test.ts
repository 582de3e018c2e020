import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EndpointLine, pathBytes } from '../../src/sensor/report/line.ts';
import { type Service, startService } from '../platform/service.ts';
import { runToEnd } from '../support/process.ts';
import { seededRandom } from '../support/random.ts';
import { emptyFolder } from './scanned.ts';
import { type Watched, watched } from './watched.ts';

const SEED = 20_260_101;
const MUTATIONS = 200;

let service: Service;
beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.close());

/** Names of every kind, as bytes. */
const NAMES: Buffer[] = [
  ...Array.from({ length: 30 }, (_, at) => Buffer.from(`tool-${at}`)),
  ...['with blank', 'quo"te', 'back\\slash', 'two\nlines', '\u001b[31mred', 'ü', '日本', '\u2028', "it's"].map((name) =>
    Buffer.from(name),
  ),
  Buffer.from([0x62, 0xff, 0xfe]),
];
const FOLDERS = 10;

/** Changes to one file. */
const MUTATIONS_OF_FILES: Record<string, (path: Buffer, at: number) => void> = {
  append: (path) => appendFileSync(path, '!'),
  'same size, time set back': (path) => {
    const { atime, mtime, size } = statSync(path);
    writeFileSync(path, Buffer.alloc(size, 'X'));
    utimesSync(path, atime, mtime);
  },
  'other content': (path, at) => writeFileSync(path, `${at}`),
  empty: (path) => writeFileSync(path, ''),
  'same content, new inode': (path) => {
    const content = readFileSync(path);
    rmSync(path);
    writeFileSync(path, content);
    chmodSync(path, 0o755);
  },
  touch: (path) => utimesSync(path, 5, 5),
  permissions: (path) => chmodSync(path, 0o4711),
  owner: (path) => chownSync(path, 1234, 0),
  group: (path) => chownSync(path, 0, 1234),
  'all at once': (path) => {
    appendFileSync(path, '!');
    chownSync(path, 1, 2);
    chmodSync(path, 0o600);
  },
  remove: (path) => rmSync(path),
  move: (path) => renameSync(path, Buffer.concat([path, Buffer.from('.moved')])),
  'one more name': (path) => linkSync(path, Buffer.concat([path, Buffer.from('.linked')])),
  'a link in its place': (path) => {
    rmSync(path);
    symlinkSync('elsewhere', path);
  },
  'a FIFO in its place': (path) => {
    rmSync(path);
    execFileSync('python3', ['-c', `import os;os.mkfifo(bytes.fromhex('${path.toString('hex')}'))`]);
  },
  'a folder in its place': (path) => {
    rmSync(path);
    mkdirSync(path);
  },
  'a folder with a file in its place': (path) => {
    rmSync(path);
    mkdirSync(path);
    writeFileSync(Buffer.concat([path, Buffer.from('/new')]), 'new');
  },
  'one beside it': (path, at) => writeFileSync(Buffer.concat([path, Buffer.from(`.new-${at}`)]), 'new'),
};

/** Creates a tree of 400 files and 20 links. */
function makeTree(root: string): Buffer[] {
  const files: Buffer[] = [];
  for (let folder = 0; folder < FOLDERS; folder++) {
    const place = join(root, `folder-${folder}`);
    mkdirSync(place);
    for (const name of NAMES) {
      const path = Buffer.concat([Buffer.from(`${place}/`), name]);
      writeFileSync(path, `${folder} ${name.toString('latin1')}`);
      chmodSync(path, 0o755);
      files.push(path);
    }
    symlinkSync('tool-0', join(place, 'link'));
    symlinkSync('tool-1', join(place, 'link-that-stays'));
  }
  return files;
}

function mutate(root: string, files: Buffer[]): void {
  const random = seededRandom(SEED);
  const kinds = Object.values(MUTATIONS_OF_FILES);
  const left = [...files];
  const picked = Array.from({ length: MUTATIONS - 2 * FOLDERS }, () => {
    const [file] = left.splice(Math.floor(random() * left.length), 1);
    return file as Buffer;
  });
  for (const [at, path] of picked.entries()) kinds[Math.floor(random() * kinds.length)]?.(path, at);
  for (let folder = 0; folder < FOLDERS; folder++) {
    const place = join(root, `folder-${folder}`);
    rmSync(join(place, 'link'));
    symlinkSync(folder % 2 === 0 ? 'tool-2' : 'a-longer-target', join(place, 'link'));
    if (folder % 2 === 0) chmodSync(place, 0o700);
    else mkdirSync(join(place, 'an empty folder'));
  }
}

/** Verdict on a path: added, removed, or its changed attributes. */
type Verdict = 'added' | 'removed' | readonly string[];
/** Verdicts by path, as latin1. */
type Verdicts = Map<string, Verdict>;

const ATTRIBUTES = {
  file_type: 'type',
  perm: 'mode',
  uid: 'uid',
  gid: 'gid',
  size: 'size',
  sha256: 'sha256',
  link_name: 'target',
};

interface AideReport {
  added?: Record<string, string>;
  removed?: Record<string, string>;
  changed?: Record<string, string>;
  details?: Record<string, Record<string, unknown>>;
}

/** Reduces a change of type to the type, because it changes every attribute. */
function changed(attributes: readonly string[]): readonly string[] {
  return attributes.includes('type') ? ['type'] : [...attributes].sort();
}

class Aide {
  readonly #folder = emptyFolder();
  readonly #config = join(this.#folder, 'aide.conf');
  readonly #report = join(this.#folder, 'report.json');

  constructor(root: string) {
    const database = join(this.#folder, 'aide.db');
    const lines = [
      `database_in=file:${database}`,
      `database_out=file:${database}`,
      'gzip_dbout=no',
      'report_format=json',
      'report_level=added_removed_attributes',
      `report_url=file:${this.#report}`,
      `${root.replaceAll(/[.+]/g, '\\$&')} ftype+p+u+g+s+l+sha256`,
    ];
    writeFileSync(this.#config, `${lines.join('\n')}\n`);
  }

  async init(): Promise<void> {
    const { code, stdout, stderr } = await this.#run('--init');
    if (code !== 0) throw new Error(`aide --init: ${stdout}${stderr}`);
  }

  async check(): Promise<{ verdicts: Verdicts; types: Map<string, string> }> {
    rmSync(this.#report, { force: true });
    await this.#run('--check');
    const report: AideReport = JSON.parse(readFileSync(this.#report, 'latin1'));
    const details = Object.entries(report.details ?? {}).map(([path, said]): [string, Verdict] => [
      path,
      changed(Object.entries(ATTRIBUTES).flatMap(([name, own]) => (name in said ? [own] : []))),
    ]);
    const verdicts: Verdicts = new Map([
      ...details,
      ...Object.keys(report.added ?? {}).map((path): [string, Verdict] => [path, 'added']),
      ...Object.keys(report.removed ?? {}).map((path): [string, Verdict] => [path, 'removed']),
    ]);
    const summaries = Object.entries({ ...report.added, ...report.removed, ...report.changed });
    return { verdicts, types: new Map(summaries.map(([path, summary]) => [path, summary.slice(0, 1)])) };
  }

  #run(command: string) {
    return runToEnd('aide', [`--config=${this.#config}`, command], { cwd: this.#folder });
  }
}

/** Returns the verdicts in the service's events. */
async function ownVerdicts(machine: Watched): Promise<Verdicts> {
  const verdicts: Verdicts = new Map();
  let cursor = '';
  do {
    const { body } = await service.call('GET', `//endpoints/events/?endpoint_id=${machine.id}&limit=100${cursor}`);
    for (const event of body.data as { expected: EndpointLine | null; observed: EndpointLine | null }[]) {
      const { expected, observed } = event;
      const line = (expected ?? observed) as EndpointLine;
      const differs = (name: string) =>
        JSON.stringify({ ...expected }[name as never]) !== JSON.stringify({ ...observed }[name as never]);
      const verdict =
        expected === null
          ? 'added'
          : observed === null
            ? 'removed'
            : changed(Object.values(ATTRIBUTES).filter(differs));
      verdicts.set(pathBytes(line).toString('latin1'), verdict);
    }
    cursor = body.next_cursor === null ? '' : `&cursor=${encodeURIComponent(body.next_cursor)}`;
  } while (cursor !== '');
  return verdicts;
}

/** A path on which AIDE and the sensor differ. */
interface Difference {
  path: string;
  aide: Verdict | undefined;
  own: Verdict | undefined;
  /** Type that AIDE reports: `d` for a folder. */
  type: string | undefined;
}

const ESCAPE = '\u001b';

/** Accepted differences, each with a test for it. Each occurs. */
const EXPLAINED: Record<string, (difference: Difference) => boolean> = {
  // A folder has no line; its files have.
  'folders are walked, and have no lines: AIDE tells of them': ({ own, type, aide }) =>
    own === undefined && type === 'd' && (aide === 'added' || ['mode', 'size'].some((one) => aide?.includes(one))),
  // The program at this path can no longer start.
  'a folder in the place of a file is another type to AIDE, and a removed file to us': ({ path, aide, own }) =>
    own === 'removed' && String(aide) === 'type' && lstatSync(Buffer.from(path, 'latin1')).isDirectory(),
  // The target implies the size.
  'the size of a link is the length of its target: AIDE tells of both': ({ aide, own }) =>
    String(aide) === 'size,target' && String(own) === 'target',
};

test(`of ${MUTATIONS} random changes AIDE says what we say, or the difference is explained`, async () => {
  const machine = await watched(service);
  const files = makeTree(machine.root);
  const aide = new Aide(machine.root);
  await aide.init();
  await machine.round();
  await machine.approve();
  expect((await aide.check().catch(() => null))?.verdicts.size ?? 0).toBe(0);
  mutate(machine.root, files);
  await machine.round();

  const [{ verdicts: theirs, types }, own] = [await aide.check(), await ownVerdicts(machine)];
  // AIDE 0.18 writes \u0027, an apostrophe, for the escape character (octal 033) in JSON.
  const namedByAide = (path: string) => path.replaceAll(ESCAPE, "'");
  const paths = new Map([...own.keys()].map((path) => [namedByAide(path), path]));
  const all = [...new Set([...theirs.keys(), ...paths.keys()])].map(
    (named): Difference => ({
      path: paths.get(named) ?? named,
      aide: theirs.get(named),
      own: own.get(paths.get(named) ?? named),
      type: types.get(named),
    }),
  );
  const same = all.filter(({ aide: said, own: ours }) => String(said) === String(ours));
  const different = all.filter((one) => !same.includes(one));
  const reasons = different.map((one) => [
    one,
    Object.entries(EXPLAINED).find(([, isIt]) => isIt(one))?.[0] ?? 'unexplained',
  ]);
  expect(reasons.filter(([, reason]) => reason === 'unexplained')).toEqual([]);
  expect(new Set(reasons.map(([, reason]) => reason))).toEqual(new Set(Object.keys(EXPLAINED)));
  expect(same.length).toBeGreaterThan(160);
});
