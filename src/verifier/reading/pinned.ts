import { utf8Text } from '../../core/bytes.ts';
import { sha256 } from '../../core/digest.ts';
import { parseContract } from '../profile/file.ts';
import type { ContractInUse } from './in-use.ts';
import { openContract } from './reading.ts';

/**
 * Opens a contract and keeps the bytes of its file.
 * @param name of the file, for errors.
 * @throws EvidenceError `config` with file, line and column.
 */
export function pinContract(bytes: Uint8Array, name: string): ContractInUse {
  const description = parseContract(utf8Text(bytes), name);
  return { description, contract: openContract(description), file: { bytes, sha256: sha256(bytes) } };
}
