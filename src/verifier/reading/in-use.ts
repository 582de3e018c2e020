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

/** The contract that something was read by. */
export interface ContractUse {
  name: string;
  /** The digest of its file; null for the contract that comes with this program. */
  sha256: string | null;
  /** The one who brought it. */
  owner: 'reader' | 'bundle' | 'default';
}

/** @param owner of a contract that does not come with this program. */
export function toContractUse(
  { contract, file }: Pick<ContractInUse, 'contract' | 'file'>,
  owner: 'reader' | 'bundle',
): ContractUse {
  return { name: contract.name, sha256: file?.sha256 ?? null, owner: file === null ? 'default' : owner };
}
