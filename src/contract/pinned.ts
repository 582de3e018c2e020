import { sha256 } from '../encoding/digest.ts';
import type { Contract } from './contract.ts';
import { DEFAULT_DESCRIPTION, defaultContract } from './default-contract.ts';
import type { Description } from './description.ts';
import { parseContract } from './file.ts';
import { openContract } from './reading.ts';

/** The contract that a service is read by, and the very file that says so. */
export interface ContractInUse {
  description: Description;
  contract: Contract;
  /** Null for the default contract. */
  file: { bytes: Uint8Array; sha256: string } | null;
}

export const DEFAULT_IN_USE: ContractInUse = {
  description: DEFAULT_DESCRIPTION,
  contract: defaultContract,
  file: null,
};

/**
 * @param name of the file, for errors.
 * @throws EvidenceError `config` naming file, line and column.
 */
export function pinContract(bytes: Uint8Array, name: string): ContractInUse {
  const description = parseContract(Buffer.from(bytes).toString('utf8'), name);
  return { description, contract: openContract(description), file: { bytes, sha256: sha256(bytes) } };
}
