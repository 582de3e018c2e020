import { messageOf } from '../../core/errors.ts';
import { isClosed } from '../archive/failure.ts';
import { type VerifiedOutcome, worstOf } from '../records/outcome.ts';

/** What a verification of stored objects can find, apart from the findings about a stream's entries. */
export interface Problem {
  code:
    | 'object/missing'
    | 'object/altered'
    | 'object/unexpected'
    | 'object/unreadable'
    | 'object/closed'
    | 'object/covered'
    | 'object/replaced'
    | 'object/unlocked'
    | 'record/differs'
    | 'verdict/differs'
    | 'ledger/gap'
    | 'ledger/broken-link'
    | 'ledger/missing-entry'
    | 'history/differs'
    | 'history/gap'
    | 'signature/missing'
    | 'signature/untrusted'
    | 'signature/mismatch'
    | 'signature/differs'
    | 'stamp/refuted'
    | `bundle/${string}`;
  /** The object, and after a colon the file in it. */
  key: string;
  message: string;
  /** See `Finding`. */
  expected?: string;
  actual?: string;
}

export function toProblem(
  code: Problem['code'],
  key: string,
  message: string,
  values: { expected?: string; actual?: string } = {},
): Problem {
  return { code, key, message, ...values };
}

/** An object that was not read: it is wrong in itself, or this user may not look. */
export function toUnreadable(key: string, error: unknown): Problem {
  return toProblem(isClosed(error) ? 'object/closed' : 'object/unreadable', key, messageOf(error));
}

/** What problems and outcomes come to. Who may not look has refuted nothing, and not verified it either. */
export function worstWith(problems: readonly Problem[], outcomes: readonly VerifiedOutcome[]): VerifiedOutcome {
  const found = problems.map(({ code }) => (code === 'object/closed' ? 'incomplete' : 'refuted'));
  return worstOf([...found, ...outcomes]);
}
