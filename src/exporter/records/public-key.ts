import { publicKeyKey } from '../../verifier/records/keys.ts';
import { type PublicKey, toPem } from '../../verifier/signature/key.ts';
import type { Archive } from '../archive/archive.ts';
import { putBytes } from './put-bytes.ts';

/**
 * Stores the public key of what is about to be signed. Lying in the archive makes nobody trust it: it is to be found by
 * its id when keys have changed, and a signature that does not even fit it is refuted without any trust.
 */
export async function keepPublicKey(archive: Archive, key: PublicKey): Promise<void> {
  await putBytes(archive, publicKeyKey(key.id), Buffer.from(toPem(key)));
}
