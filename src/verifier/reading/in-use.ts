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

/** Returns the contract without its program, so that only the reference decoder reads. */
export function withoutProgram<T extends Pick<ContractInUse, 'contract'>>(inUse: T): T {
  return { ...inUse, contract: { ...inUse.contract, program: null } };
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
export function toContractUse(
  { contract, file }: Pick<ContractInUse, 'contract' | 'file'>,
  owner: 'reader' | 'bundle',
): ContractUse {
  return { name: contract.name, sha256: file?.sha256 ?? null, owner: file === null ? 'default' : owner };
}
