import type { Description } from '../profile/description.ts';
import type { Contract } from './contract.ts';
import { DEFAULT_DESCRIPTION, defaultContract } from './default-contract.ts';

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
