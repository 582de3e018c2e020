import { createHash } from 'node:crypto';
import type { Expected } from './archive.ts';

/** Length and SHA-256 of blocks as they come. */
export async function measure(blocks: AsyncIterable<Uint8Array>): Promise<Expected> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const block of blocks) {
    hash.update(block);
    bytes += block.length;
  }
  return { sha256: hash.digest('hex'), bytes };
}
