/**
 * Account ids that scanners report as those of traps: they decode them from a key and never try it.
 * From the lists `thinkstCanaryList` (canarytokens.org) and `thinkstKnockoffsCanaryList` (others like it) of
 * TruffleHog, pkg/detectors/aws/access_keys/canary.go, as of version 3.90.
 */
const CANARYTOKENS = [
  '052310077262',
  '171436882533',
  '266735846894',
  '534261010715',
  '595918472158',
  '717712589309',
  '730335385048',
  '819147034852',
  '893192397702',
  '992382622183',
];
const LIKE_CANARYTOKENS = [
  '044858866125',
  '251535659677',
  '344043088457',
  '351906852752',
  '390477818340',
  '426127672474',
  '427150556519',
  '439872796651',
  '445142720921',
  '465867158099',
  '637958123769',
  '693412236332',
  '732624840810',
  '735421457923',
  '959235150393',
  '982842642351',
];

const KNOWN: ReadonlySet<string> = new Set([...CANARYTOKENS, ...LIKE_CANARYTOKENS]);

/** True if scanners know an account as one of traps. */
export function isCanaryAccount(accountId: string): boolean {
  return KNOWN.has(accountId);
}
