/** What a verification of stored objects can find, apart from the findings about a stream's entries. */
export interface Problem {
  code:
    | 'object/missing'
    | 'object/altered'
    | 'object/unexpected'
    | 'object/unreadable'
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
