import { createHash, hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import { type Header, pack } from 'tar-stream';

/** An entry of data.tar: its header, and a file's content. */
export type TarEntry = Partial<Header> & { name: string; content?: string | Buffer };

export interface DebOptions {
  name?: string;
  version?: string;
  /** Entries of data.tar. */
  entries: readonly TarEntry[];
  /** Member that replaces data.tar, with its name, such as `data.tar.xz`. */
  data?: { name: string; bytes: Buffer };
}

export async function tarOf(entries: readonly TarEntry[]): Promise<Buffer> {
  const tar = pack();
  const bytes = buffer(tar as unknown as Readable);
  for (const { content, ...header } of entries) tar.entry({ mtime: new Date(0), ...header }, content ?? '');
  tar.finalize();
  return await bytes;
}

/** Builds a .deb file (deb(5)). */
export async function debOf({ name = 'tool', version = '1.0', entries, data }: DebOptions): Promise<Buffer> {
  const control = `Package: ${name}\nVersion: ${version}\nArchitecture: amd64\nMaintainer: Nobody <nobody@example.org>\nDescription: of a test\n`;
  const members = [
    { name: 'debian-binary', bytes: Buffer.from('2.0\n') },
    {
      name: 'control.tar.gz',
      bytes: gzipSync(await tarOf([{ name: './control', content: control }, md5sumsOf(entries)])),
    },
    data ?? { name: 'data.tar.gz', bytes: gzipSync(await tarOf(entries)) },
  ];
  return Buffer.concat([Buffer.from('!<arch>\n'), ...members.map(({ name, bytes }) => memberOf(name, bytes))]);
}

/** Returns the checksums with which dpkg verifies installed files. */
function md5sumsOf(entries: readonly TarEntry[]): TarEntry {
  const files = entries.filter(({ content }) => content !== undefined);
  const lines = files.map(({ name, content = '' }) => `${hexMd5(content)}  ${name.replace('./', '')}\n`);
  return { name: './md5sums', content: lines.join('') };
}

function memberOf(name: string, bytes: Buffer): Buffer {
  const fields = [name.padEnd(16), '0'.padEnd(12), '0'.padEnd(6), '0'.padEnd(6), '100644'.padEnd(8)];
  const header = `${fields.join('')}${String(bytes.length).padEnd(10)}\`\n`;
  return Buffer.concat([Buffer.from(header), bytes, Buffer.alloc(bytes.length % 2, '\n')]);
}

export function hexSha256(bytes: Buffer | string): string {
  return hash('sha256', bytes, 'hex');
}

export function hexMd5(bytes: Buffer | string): string {
  return createHash('md5').update(bytes).digest('hex');
}
