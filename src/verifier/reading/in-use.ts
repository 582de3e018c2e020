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
