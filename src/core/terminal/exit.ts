import { type ErrorCode, EvidenceError } from '../errors.ts';
import { DEFECT, INCOMPLETE } from './crash.ts';

/** Exit codes and their meanings, as printed by `evidence help exit-codes`. */
export const EXIT_CODES: readonly (readonly [code: number, meaning: string])[] = [
  [0, 'every stream in scope is verified or collected, and archived; some may be empty, but not all'],
  [
    1,
    'integrity: at least one claim is refuted (everything was still archived); probe: an entry contradicts the others',
  ],
  [2, 'usage, configuration or contract: nothing was attempted'],
  [
    INCOMPLETE,
    'incomplete: something could not be collected, verified as required, or archived: the output says what to do; probe: a person must decide',
  ],
  [4, 'nothing was checked: no stream in scope, all of them empty, or no bundle was opened'],
  [5, 'refused: 401 or 403 by the service or the store'],
  [DEFECT, 'a defect in the program'],
  [129, 'the terminal was closed (SIGHUP); run it again to resume'],
  [130, 'interrupted (Ctrl-C); run it again to resume'],
  [143, 'terminated; run it again to resume'],
];

const BY_ERROR: Record<ErrorCode, number> = {
  usage: 2,
  config: 2,
  contract: 2,
  unreachable: 3,
  refused: 5,
  'store-refused': 5,
  service: 3,
  'not-found': 2,
  unreadable: 3,
  conflict: 3,
  chain: 1,
  archive: 3,
  'work-directory': 3,
  output: 3,
  interrupted: 130,
};

export function exitCodeOf(code: ErrorCode): number {
  return BY_ERROR[code];
}

export function exitCodeOfError(error: unknown): number {
  return error instanceof EvidenceError ? exitCodeOf(error.code) : DEFECT;
}
