import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { crc32 } from 'node:zlib';
import { openBundle } from '../../src/verifier/bundle/read.ts';

/** Files of a bundle by path, to change as a forger would. */
export type BagFiles = Map<string, Buffer>;

/**
 * Writes a bundle with files changed, added or omitted, and with every SHA-256 manifest and the payload sum corrected,
 * as a forger who knows BagIt would.
 * @param folder top folder of the bag, to rename it.
 */
export async function rebag(
  source: string,
  target: string,
  change: (files: BagFiles) => void,
  folder?: string,
): Promise<void> {
  const files: BagFiles = new Map();
  const bundle = await openBundle(source);
  try {
    for (const { path } of bundle.entries) files.set(path, Buffer.from(await bundle.readFile(path, 2 ** 26)));
  } finally {
    await bundle.close();
  }
  change(files);
  // Manifests do not list folders.
  const payload = [...files].filter(([path]) => path.startsWith('data/') && !path.endsWith('/'));
  const sum = `${payload.reduce((bytes, [, content]) => bytes + content.length, 0)}.${payload.length}`;
  const info = files
    .get('bag-info.txt')
    ?.toString()
    .replace(/^(Payload-Oxum: ).*$/m, `$1${sum}`);
  if (info !== undefined) files.set('bag-info.txt', Buffer.from(info));
  files.set('manifest-sha256.txt', manifestOf(payload));
  files.delete('tagmanifest-sha256.txt');
  files.set('tagmanifest-sha256.txt', manifestOf([...files].filter(([path]) => !path.startsWith('data/'))));
  writeFileSync(
    target,
    zipOf(new Map([...files].map(([path, content]) => [`${folder ?? bundle.folder}/${path}`, content]))),
  );
}

function manifestOf(files: readonly (readonly [path: string, content: Buffer])[]): Buffer {
  const lines = files.map(([path, content]) => `${createHash('sha256').update(content).digest('hex')}  ${path}\n`);
  return Buffer.from(lines.sort().join(''));
}

/** Writes a zip with stored files in this order (APPNOTE 4.3). */
export function zipOf(files: ReadonlyMap<string, Buffer>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of files) {
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(0x800, 2);
    common.writeUInt32LE(crc32(content), 10);
    common.writeUInt32LE(content.length, 14);
    common.writeUInt32LE(content.length, 18);
    common.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), common, Buffer.from(name), content]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), common, rest, Buffer.from(name));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.size, 8);
  end.writeUInt16LE(files.size, 10);
  end.writeUInt32LE(list.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, list, end]);
}
