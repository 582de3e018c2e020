import { plural } from '../../core/plurals.ts';
import type { ClaimName } from '../../verifier/claims/claim.ts';
import { type Check, failed, ok, skipped } from '../check.ts';

const NAME = 'roots';

/** Checks that there are roots to judge anchors by, where anchors have to be proved. @param roots null if none are configured. */
export function checkRoots(roots: readonly unknown[] | null, required: readonly ClaimName[]): Check {
  if (roots !== null) return ok(NAME, `${plural(roots.length, 'root')} to judge anchors by`);
  if (!required.includes('anchor'))
    return skipped(NAME, 'none are configured (verify.timestamp_roots), so anchors stay unproved');
  return failed(
    NAME,
    'verify.require has anchor, and no roots are configured to judge anchors by',
    "Get the authority's root certificate from the authority, and give it with verify.timestamp_roots.",
  );
}
