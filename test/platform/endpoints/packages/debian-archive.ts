import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { type DebOptions, debOf, hexSha256 } from './deb-files.ts';
import type { SigningKey } from './signing-key.ts';

const FORMS: Record<string, (bytes: Buffer) => Buffer> = {
  '': (bytes) => bytes,
  '.gz': (bytes) => gzipSync(bytes),
  '.zst': (bytes) => zstdCompressSync(bytes),
  '.xz': (bytes) => execFileSync('xz', ['--stdout'], { input: bytes }),
};
export type IndexForm = '' | '.gz' | '.zst' | '.xz';

const INDEX = 'main/binary-amd64/Packages';

/** A small Debian archive as on a mirror (dists/test and pool), in a folder that `remove` removes. */
export class DebianArchive {
  readonly root = mkdtempSync(join(tmpdir(), 'debian-'));
  readonly suite = join(this.root, 'dists/test');
  readonly inRelease = join(this.suite, 'InRelease');
  readonly #paragraphs: string[] = [];

  constructor() {
    mkdirSync(join(this.suite, 'main/binary-amd64'), { recursive: true });
    mkdirSync(join(this.root, 'pool'));
  }

  /** Adds a package to the pool and to the next index. @returns its file. */
  async add(input: DebOptions): Promise<string> {
    const { name = 'tool', version = '1.0' } = input;
    return this.addBytes(name, version, await debOf(input));
  }

  addBytes(name: string, version: string, bytes: Buffer): string {
    const file = `pool/${name}_${version.replace(/^\d+:/, '')}_amd64.deb`;
    writeFileSync(join(this.root, file), bytes);
    const fields = {
      Package: name,
      Version: version,
      Architecture: 'amd64',
      Maintainer: 'Nobody <nobody@example.org>',
      Description: 'of a test',
    };
    const found = { Filename: file, Size: bytes.length, SHA256: hexSha256(bytes) };
    this.#paragraphs.push(
      Object.entries({ ...fields, ...found })
        .map(([field, value]) => `${field}: ${value}\n`)
        .join(''),
    );
    return join(this.root, file);
  }

  get index(): Buffer {
    return Buffer.from(this.#paragraphs.join('\n'));
  }

  /** Returns the Release file for an index. */
  release(index: Buffer, lines: readonly string[] = []): string {
    const head = [
      'Origin: Test',
      'Label: Test',
      'Suite: test',
      'Codename: test',
      'Architectures: amd64',
      'Components: main',
    ];
    const digests = ['SHA256:', ` ${hexSha256(index)} ${index.length} ${INDEX}`, ...lines];
    return `${[...head, 'Date: Sat, 21 Nov 2026 00:00:00 UTC', ...digests].join('\n')}\n`;
  }

  indexFile(form: IndexForm = ''): string {
    return join(this.suite, INDEX + form);
  }

  /** Writes the index in one format, and its signature. */
  publish(key: SigningKey, { form = '', index = this.index }: { form?: IndexForm; index?: Buffer } = {}): void {
    writeFileSync(this.indexFile(form), FORMS[form]?.(index) ?? index);
    writeFileSync(this.inRelease, key.sign(this.release(index)));
  }

  remove(): void {
    rmSync(this.root, { recursive: true });
  }
}
