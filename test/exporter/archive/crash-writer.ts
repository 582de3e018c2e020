import { createHash } from 'node:crypto';
import { openDirectoryArchive } from '../../../src/exporter/archive/directory/archive.ts';

/** Stores objects until it is killed, and prints the key of each object once it is stored. */
const [, , root = '', round = ''] = process.argv;
const archive = await openDirectoryArchive(root, { create: true });
for (let index = 0; ; index += 1) {
  const key = `runs/${round}/${index % 3}/${index}.bin`;
  const bytes = Buffer.alloc(1024 * 1024, key);
  await archive.put(key, { bytes }, { sha256: createHash('sha256').update(bytes).digest('hex'), bytes: bytes.length });
  process.stdout.write(`${key}\n`);
}
