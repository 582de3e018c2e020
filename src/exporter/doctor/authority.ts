import { randomBytes } from 'node:crypto';
import { attempt, type Check, ok } from '../check.ts';
import { requestStamp, type Stamping } from '../export/stamp.ts';

/** Checks that the time-stamping authority gives a token that holds under the pinned roots: one over a random digest. */
export function checkAuthority(stamping: Stamping): Promise<Check> {
  return attempt('time-stamp', async () => {
    const now = new Date();
    const next = { key: 'a token of evidence doctor', digest: randomBytes(32).toString('hex') };
    const { verdict } = await requestStamp({ stored: [], next }, stamping, { notBefore: now, outlasting: null, now });
    const { authority, until } = verdict;
    return ok(
      'time-stamp',
      `${stamping.authority.shown} answers as ${authority}; its tokens hold until ${until?.toISOString()}`,
    );
  });
}
