import { sha256 } from '../../core/digest.ts';
import type { Archive } from '../archive/archive.ts';
import { type PublicKey, toPem } from '../signature/key.ts';
import { publicKeyKey } from './keys.ts';

/**
 * Stores the public key of what is about to be signed. Lying in the archive makes nobody trust it: it is to be found by
 * its id when keys have changed, and a signature that does not even fit it is refuted without any trust.
 */
export async function keepPublicKey(archive: Archive, key: PublicKey): Promise<void> {
  const bytes = Buffer.from(toPem(key));
  await archive.put(publicKeyKey(key.id), { bytes }, { sha256: sha256(bytes), bytes: bytes.length });
}
