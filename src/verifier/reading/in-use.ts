import { utf8Text } from '../../core/bytes.ts';
import { sha256 } from '../../core/digest.ts';
import type { Description } from '../profile/description.ts';
import { parseContract } from '../profile/file.ts';
import type { Contract } from './contract.ts';
import { DEFAULT_DESCRIPTION, defaultContract } from './default-contract.ts';
import { openContract } from './reading.ts';

/** The contract that a service is read by, and the very file that says so. */
export interface ContractInUse {
  description: Description;
  contract: Contract;
  /** Null for the default contract. */
  file: { bytes: Uint8Array; sha256: string } | null;
}

/** The same, read by the reference decoder alone. */
export function withoutProgram<T extends Pick<ContractInUse, 'contract'>>(inUse: T): T {
  return { ...inUse, contract: { ...inUse.contract, program: null } };
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
  const description = parseContract(utf8Text(bytes), name);
  return { description, contract: openContract(description), file: { bytes, sha256: sha256(bytes) } };
}
