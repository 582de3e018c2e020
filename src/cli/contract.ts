import { readFileSync } from 'node:fs';
import { type ContractInUse, DEFAULT_IN_USE } from '../contract/in-use.ts';
import { pinContract } from '../contract/pinned.ts';
import { EvidenceError } from '../errors.ts';

/**
 * The contract of a file; the default one without a file.
 * @throws EvidenceError `config` naming file, line and column.
 */
export function readContract(path: string | null): ContractInUse {
  if (path === null) return DEFAULT_IN_USE;
  let bytes: Buffer;
  try {
    bytes = readFileSync(path);
  } catch (error) {
    throw new EvidenceError('config', `the contract file ${path} cannot be read`, {
      cause: error,
      nextStep: 'Make it with `evidence probe --out contract.yaml`.',
    });
  }
  return pinContract(bytes, path);
}
