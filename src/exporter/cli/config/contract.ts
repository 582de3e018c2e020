import { type ContractInUse, DEFAULT_IN_USE } from '../../../verifier/reading/in-use.ts';
import { pinContract } from '../../../verifier/reading/pinned.ts';
import { readGivenFile } from './given-file.ts';

const MAKE_IT = { nextStep: 'Create it with `evidence probe --out contract.yaml`.' };

/**
 * Reads the contract from a file; returns the default contract without one.
 * @throws EvidenceError `config` with file, line and column.
 */
export function readContract(path: string | null): ContractInUse {
  if (path === null) return DEFAULT_IN_USE;
  return pinContract(readGivenFile('the contract', path, MAKE_IT), path);
}
