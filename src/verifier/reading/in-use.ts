import type { Description } from '../profile/description.ts';
import type { Contract } from './contract.ts';
import { DEFAULT_DESCRIPTION, defaultContract } from './default-contract.ts';

/** Contract by which a service is read, with the bytes of its file. */
export interface ContractInUse {
  description: Description;
  contract: Contract;
  /** Null for the default contract. */
  file: { bytes: Uint8Array; sha256: string } | null;
}

/** Contract and its file, without the description. */
export type PinnedContract = Pick<ContractInUse, 'contract' | 'file'>;

/** Returns the contract by which to read. @param referenceAlone true to use the reference decoder alone. */
export function toRead(inUse: PinnedContract, referenceAlone = false): PinnedContract {
  return referenceAlone ? { ...inUse, contract: { ...inUse.contract, program: null } } : inUse;
}

export const DEFAULT_IN_USE: ContractInUse = {
  description: DEFAULT_DESCRIPTION,
  contract: defaultContract,
  file: null,
};

/** Record of the contract by which something was read. */
export interface ContractUse {
  name: string;
  /** SHA-256 of its file; null for the contract that comes with this program. */
  sha256: string | null;
  /** Party that supplied the contract. */
  owner: 'reader' | 'bundle' | 'default';
}

/** @param owner party that supplied the contract, if it does not come with this program. */
export function toContractUse({ contract, file }: PinnedContract, owner: 'reader' | 'bundle'): ContractUse {
  return { name: contract.name, sha256: file?.sha256 ?? null, owner: file === null ? 'default' : owner };
}
