import { grouped } from '../../core/plurals.ts';
import type { TokenFinding } from '../../core/timestamp/token-finding.ts';
import { type StreamFinding, toStreamFinding } from '../model/stream-finding.ts';
import { type Claim, unproved } from './claim.ts';

/** Token that proves nothing here, but is not wrong by itself. */
export interface OpenToken {
  sequence: number;
  fault: TokenFinding;
}

/** Returns one finding per cause, because many tokens may be of one authority. The finding names the newest token. */
export function toOpenFindings(
  streamId: string,
  open: readonly OpenToken[],
): { finding: StreamFinding; tokens: number }[] {
  const causes = Map.groupBy(
    open,
    ({ fault }) => `${fault.code} ${fault.code === 'anchor/future' ? '' : fault.message}`,
  );
  return [...causes.values()].flatMap((tokens) => {
    const [newest] = tokens;
    if (newest === undefined) return [];
    const { code, message, expected, actual } = newest.fault;
    const others = tokens.length === 1 ? '' : `; as are ${grouped(tokens.length - 1)} older`;
    const finding = toStreamFinding(code, streamId, `the token for entry ${newest.sequence}: ${message}${others}`, {
      sequence: newest.sequence,
      expected,
      actual,
    });
    return [{ finding, tokens: tokens.length }];
  });
}

/** Returns the claim for tokens none of which is sound. */
export function withoutSoundToken(open: readonly OpenToken[]): Claim {
  if (open.length === 0) return unproved('token-not-checked', 'no token could be checked');
  return open.some(({ fault }) => fault.code === 'anchor/unknown-issuer')
    ? unproved('root-not-pinned', 'no token leads to a root that is pinned here')
    : unproved('future-token', 'every token is of a time that had not come yet');
}
