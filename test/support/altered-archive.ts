import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { sign } from '../../src/verifier/signature/envelope.ts';
import { type SigningKey, toPem } from '../../src/verifier/signature/key.ts';
import { signedIn, signedOf, toEnvelope } from './envelope.ts';
import { type BagFiles, rebag } from './rebag.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document to edit as with a text editor.
export type Json = any;

const LEDGER_TYPE = 'application/vnd.evidence-exporter.ledger-entry-sha256';

/** An archive in a folder, as changed by an attacker with every tool and no key. */
export class Altered {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
  }

  path(key: string): string {
    return join(this.root, key);
  }

  bytes(key: string): Buffer {
    return readFileSync(this.path(key));
  }

  put(key: string, content: string | Uint8Array): void {
    mkdirSync(dirname(this.path(key)), { recursive: true });
    writeFileSync(this.path(key), content);
  }

  remove(...keys: string[]): void {
    for (const key of keys) rmSync(this.path(key), { recursive: true });
  }

  move(from: string, to: string): void {
    mkdirSync(dirname(this.path(to)), { recursive: true });
    renameSync(this.path(from), this.path(to));
  }

  copy(from: string, to: string): void {
    cpSync(this.path(from), this.path(to), { recursive: true });
  }

  link(from: string, to: string): void {
    symlinkSync(this.path(to), this.path(from));
  }

  swap(one: string, other: string): void {
    const [first, second] = [this.bytes(one), this.bytes(other)];
    this.put(one, second);
    this.put(other, first);
  }

  /** Flips a byte in the middle. */
  flip(key: string): void {
    const bytes = this.bytes(key);
    const at = bytes.length >> 1;
    bytes[at] = (bytes[at] ?? 0) ^ 1;
    this.put(key, bytes);
  }

  read(key: string): Json {
    return JSON.parse(this.bytes(key).toString('utf8'));
  }

  write(key: string, document: Json): void {
    this.put(key, `${JSON.stringify(document, null, 2)}\n`);
  }

  /** Changes a document without correcting its references. */
  edit(key: string, change: (document: Json) => void): void {
    const document = this.read(key);
    change(document);
    this.write(key, document);
  }

  find(folder: string, ending: string): string {
    const name = readdirSync(this.path(folder)).find((one) => one.endsWith(ending));
    if (name === undefined) throw new Error(`nothing in ${folder} ends with ${ending}`);
    return `${folder}/${name}`;
  }

  /** Changes a run record, and every digest that depends on it. */
  editRun(run: string, change: (record: Json) => void): void {
    this.edit(`runs/${run}/run.json`, change);
    this.recompute();
  }

  /** Changes an object that a run record names, and every digest that depends on it. */
  editOf(run: string, key: string, change: (document: Json) => void): void {
    this.edit(key, change);
    this.restore(run);
  }

  /** Corrects a run record's references to its objects, and everything above. */
  restore(run: string): void {
    this.editRun(run, (record) => {
      const stored = [...record.streams.flatMap((stream: Json) => [stream.bundle, stream.record]), ...record.documents];
      for (const object of stored) this.measure(object);
    });
  }

  measure(stored: Json): void {
    if (!existsSync(this.path(stored.key))) return;
    const bytes = this.bytes(stored.key);
    stored.bytes = bytes.length;
    stored.sha256 = sha256(bytes);
  }

  /** Changes the files of a bundle, and every digest that depends on them. */
  async editBundle(run: string, key: string, change: (files: BagFiles) => void): Promise<void> {
    const target = `${this.path(key)}.new`;
    let manifest = '';
    await rebag(this.path(key), target, (files) => {
      change(files);
      const payload = [...files].filter(([path]) => path.startsWith('data/'));
      manifest = payload
        .map(([path, content]) => `${sha256(content)}  ${path}\n`)
        .sort()
        .join('');
    });
    renameSync(target, this.path(key));
    const recordKey = key.replace(/\.zip$/, '.json');
    this.edit(recordKey, (record) => {
      this.measure(record.bundle);
      record.bundle.identity = sha256(manifest);
    });
    const { bundle } = this.read(recordKey);
    this.edit(`runs/${run}/run.json`, (record) => {
      for (const stream of record.streams) if (stream.bundle.key === key) stream.bundle = bundle;
    });
    this.restore(run);
  }

  get ledger(): string[] {
    return readdirSync(this.path('ledger'))
      .sort()
      .map((name) => `ledger/${name}`);
  }

  /**
   * Corrects the digests in the ledger and in signed statements as far as possible without a key; signatures stay
   * unchanged.
   */
  recompute(): void {
    let previous = '0'.repeat(64);
    for (const key of this.ledger) {
      this.edit(key, (entry) => {
        entry.previous_sha256 = previous;
        if (entry.run_id !== undefined) {
          const run = `runs/${entry.run_id}/run.json`;
          if (existsSync(this.path(run))) entry.run_sha256 = sha256(this.bytes(run));
          this.restate(entry.run_id, entry.run_sha256);
        } else if (entry.acceptance_key !== undefined)
          entry.acceptance_sha256 = sha256(this.bytes(entry.acceptance_key));
      });
      previous = sha256(this.bytes(key));
    }
  }

  restate(run: string, digest: string): void {
    const key = `runs/${run}/run.dsse.json`;
    if (!existsSync(this.path(key)) || !existsSync(this.path(`runs/${run}/run.json`))) return;
    const record = this.read(`runs/${run}/run.json`);
    const stored = [...record.streams.flatMap((stream: Json) => [stream.bundle, stream.record]), ...record.documents];
    const digests = new Map(stored.map((object: Json) => [object.key, object.sha256]));
    digests.set(`runs/${run}/run.json`, digest);
    this.edit(key, (envelope) => {
      const statement = JSON.parse(Buffer.from(envelope.payload, 'base64').toString());
      for (const subject of statement.subject) subject.digest.sha256 = digests.get(subject.name);
      for (const name of Object.keys(statement.predicate)) statement.predicate[name] = record[name];
      envelope.payload = Buffer.from(`${JSON.stringify(statement, null, 2)}\n`).toString('base64');
    });
  }

  /** Signs everything with another key, which replaces the old one in the archive. */
  resign(key: SigningKey): void {
    for (const old of readdirSync(this.path('keys'))) this.remove(`keys/${old}`);
    this.put(`keys/${key.id}.pem`, toPem(key));
    for (const entryKey of this.ledger) {
      this.recompute();
      this.edit(entryKey, (entry) => {
        delete entry.signature;
        const payload = Buffer.from(sha256(`${JSON.stringify(entry, null, 2)}\n`));
        entry.signature = sign(signedOf(LEDGER_TYPE, payload), key);
      });
    }
    for (const run of readdirSync(this.path('runs'))) {
      const name = `runs/${run}/run.dsse.json`;
      this.write(name, toEnvelope(signedIn(this.read(name)), key));
    }
  }
}

export function sha256(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex');
}

/** Returns a change to a JSON file of a bundle. */
export function inFile(path: string, change: (document: Json) => void): (files: BagFiles) => void {
  return (files) => {
    const document = JSON.parse(files.get(path)?.toString() ?? '');
    change(document);
    files.set(path, Buffer.from(`${JSON.stringify(document, null, 2)}\n`));
  };
}
