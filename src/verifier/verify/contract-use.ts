import type { ContractInUse } from '../reading/in-use.ts';

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
