import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { DEFECT } from '../../src/core/terminal/crash.ts';
import { evidence } from '../support/evidence.ts';
import { mutate } from '../support/mutate.ts';
import type { Random } from './packages.ts';

/** Result of verifying a damaged archive. */
export interface Damaged {
  /** Changes to the archive, in words. */
  changes: string[];
  /** Paths whose bytes or kind differ from the original's, except those of newest runs cut off with their entries. */
  differing: string[];
  outcome: string;
  code: number;
}

/** An archive, and a folder for damaged copies of it. */
export class DamagedArchives {
  readonly #original: string;
  readonly #publicKey: string | null;
  readonly #contents: Map<string, Buffer>;
  readonly #folder = mkdtempSync(join(tmpdir(), 'damaged-archives-'));

  /** @param publicKey PEM file of the key that signed the archive; null for an unsigned archive. */
  constructor(original: string, publicKey: string | null) {
    this.#original = original;
    this.#publicKey = publicKey;
    this.#contents = contentsOf(original);
  }

  /** Verifies a copy with up to three random changes. */
  async next(random: Random): Promise<Damaged> {
    const copy = join(this.#folder, 'archive');
    cpSync(this.#original, copy, { recursive: true });
    try {
      makeWritable(copy);
      const changes = Array.from({ length: 1 + random(3) }, () => damage(copy, random));
      const left = contentsOf(copy);
      const cut = cutOff(this.#contents, left);
      const differing = differences(this.#contents, left).filter((path) => !cut(path));
      return { changes, differing, ...(await verify(copy, this.#publicKey, this.#folder)) };
    } finally {
      rmSync(copy, { recursive: true, force: true });
    }
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

/**
 * Matches objects of runs at the end of the ledger whose entries are gone. No signature shows that the newest runs
 * existed (see README).
 */
function cutOff(before: ReadonlyMap<string, Buffer>, after: ReadonlyMap<string, Buffer>): (path: string) => boolean {
  const entries = [...before.keys()].filter((path) => path.startsWith('ledger/')).sort();
  const kept = entries.findLastIndex((path) => after.has(path));
  const gone = entries.slice(kept + 1);
  const runs = gone.map((path) => `runs/${JSON.parse(before.get(path)?.toString() ?? '').run_id}/`);
  return (path) => !after.has(path) && (gone.includes(path) || runs.some((run) => path.startsWith(run)));
}

/** Records that are neither signed nor in the ledger (see README). */
const UNPROTECTED = /^runs\/[^/]+\/hold-log\//;

/** True if verification passed although a protected object changed. */
export function isFooled({ differing, outcome, code }: Damaged): boolean {
  return (outcome === 'verified' || code === 0) && differing.some((path) => !UNPROTECTED.test(path));
}

async function verify(archive: string, publicKey: string | null, cwd: string) {
  const keys = publicKey === null ? [] : ['--public-key', publicKey];
  const { code, stdout, stderr } = await evidence(['verify', archive, ...keys, '--json', '--quiet'], { cwd });
  if (code === DEFECT) throw new Error(stderr);
  const { outcome, error } = JSON.parse(stdout) as { outcome: string; error?: { message: string } };
  return { code, outcome: error === undefined ? outcome : error.message };
}

type Damage = (archive: string, path: string, random: Random) => string;

const DAMAGES: Damage[] = [
  (archive, path, random) => {
    const bytes = readFileSync(join(archive, path));
    const at = random(Math.max(1, bytes.length));
    bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
    writeFileSync(join(archive, path), bytes);
    return `flipped a bit of ${path} at ${at}`;
  },
  (archive, path, random) => {
    const text = readFileSync(join(archive, path), 'latin1');
    writeFileSync(join(archive, path), mutate(text, random), 'latin1');
    return `changed the text of ${path}`;
  },
  (archive, path, random) => {
    const length = random(Math.max(1, readFileSync(join(archive, path)).length));
    truncateSync(join(archive, path), length);
    return `truncated ${path} to ${length} bytes`;
  },
  (archive, path, random) => {
    writeFileSync(join(archive, path), '\n '.repeat(1 + random(3)), { flag: 'a' });
    return `appended to ${path}`;
  },
  (archive, path) => {
    rmSync(join(archive, path));
    return `removed ${path}`;
  },
  (archive, path) => {
    // For a file at the top level, removes the archive itself.
    const folder = dirname(path) === '.' ? path : dirname(path);
    rmSync(join(archive, folder), { recursive: true });
    return `removed ${folder}, with all that was in it`;
  },
  (archive, path, random) => {
    const other = pathOf(archive, random);
    const [one, two] = [path, other].map((name) => readFileSync(join(archive, name)));
    writeFileSync(join(archive, path), two ?? '');
    writeFileSync(join(archive, other), one ?? '');
    return `swapped ${path} and ${other}`;
  },
  (archive, path, random) => {
    const other = pathOf(archive, random);
    writeFileSync(join(archive, path), readFileSync(join(archive, other)));
    return `put ${other} in the place of ${path}`;
  },
  (archive, path, random) => {
    const name = otherName(path, random);
    mkdirSync(dirname(join(archive, name)), { recursive: true });
    if (!existsSync(join(archive, name))) renameSync(join(archive, path), join(archive, name));
    return `renamed ${path} to ${name}`;
  },
  (archive, path, random) => {
    const name = otherName(path, random);
    mkdirSync(dirname(join(archive, name)), { recursive: true });
    if (!existsSync(join(archive, name))) cpSync(join(archive, path), join(archive, name));
    return `copied ${path} to ${name}`;
  },
  (archive, path) => {
    const kept = join(dirname(archive), `kept-${basename(path)}`);
    cpSync(join(archive, path), kept, { force: true });
    rmSync(join(archive, path));
    symlinkSync(kept, join(archive, path));
    return `made ${path} a link to its own bytes`;
  },
  (archive, path) => {
    rmSync(join(archive, path));
    mkdirSync(join(archive, path));
    return `made ${path} a folder`;
  },
];

function damage(archive: string, random: Random): string {
  const path = pathOf(archive, random);
  return (DAMAGES[random(DAMAGES.length)] as Damage)(archive, path, random);
}

/** Picks a random file of the archive. */
function pathOf(archive: string, random: Random): string {
  const files = [...contentsOf(archive).keys()].filter((path) => lstatSync(join(archive, path)).isFile());
  return files[random(files.length)] ?? 'nothing-left';
}

/** Returns a name that the archive uses, or nearly uses, for another object. */
function otherName(path: string, random: Random): string {
  const names = [
    `${path}.bak`,
    path.toUpperCase(),
    path.replace(/\d/, (digit) => String((Number(digit) + 1) % 10)),
    path.replace(/\.[a-z]+$/, '.json'),
    path.replace(/^[^/]+/, 'elsewhere'),
    path.replace(/streams\//, 'attempts/2026-11-01T00-00-00.000Z/'),
    path.replace(/^runs\/[^/]+/, 'runs/2099-01'),
    `runs/2099-01/${basename(path)}`,
    `ledger/${basename(path)}`,
  ];
  return names[random(names.length)] ?? path;
}

function makeWritable(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600);
}

/** Maps each path to its content, or to its kind if it is no file. */
function contentsOf(folder: string): Map<string, Buffer> {
  const contents = new Map<string, Buffer>();
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    contents.set(relative(folder, path), entry.isFile() ? readFileSync(path) : Buffer.from('no file'));
  }
  return contents;
}

function differences(before: ReadonlyMap<string, Buffer>, after: ReadonlyMap<string, Buffer>): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  return [...paths].filter((path) => {
    const [old, now] = [before.get(path), after.get(path)];
    return old === undefined || now === undefined || !old.equals(now);
  });
}
