import { inParallel } from '../../core/parallel.ts';
import { plural } from '../../core/words.ts';
import type { SealKeys } from '../../verifier/model/entry.ts';
import { type Check, failed, ok, skipped } from '../check.ts';
import type { AuditClient } from '../client/audit.ts';
import type { ListedStreamAnswer } from '../client/audit-answers.ts';

type Stream = Pick<ListedStreamAnswer, 'streamId' | 'headSequence'>;

const NAME = 'newest-seals';
/** Number of streams whose newest entry is asked for. */
const MOST_STREAMS = 1000;
const AT_ONCE = 4;
const SHOWN = 5;

/**
 * Checks that the key of the newest seal of each stream is given, where seals have to be proved: after a rotation, an
 * export would end incomplete.
 */
export async function checkNewestSeals(
  client: AuditClient,
  streams: readonly Stream[],
  given: SealKeys,
): Promise<Check> {
  const asked = streams.slice(0, MOST_STREAMS);
  const missing: { streamId: string; keyId: string }[] = [];
  let known = 0;
  await inParallel(asked, AT_ONCE, async (stream) => {
    const keyId = await client.newestSealKey(stream);
    if (keyId === null) return;
    if (given.has(keyId)) known += 1;
    else missing.push({ streamId: stream.streamId, keyId });
  });
  const rest = streams.length - asked.length;
  const unasked = rest === 0 ? '' : `; ${plural(rest, 'more stream')} not looked at`;
  if (missing.length === 0 && known === 0) return skipped(NAME, 'no listed entry names its seal key');
  if (missing.length === 0) return ok(NAME, `${plural(known, 'stream')} sealed with keys that are given${unasked}`);
  const named = missing.slice(0, SHOWN).map(({ streamId, keyId }) => `${streamId} (${keyId})`);
  const more = missing.length > SHOWN ? ` and ${missing.length - SHOWN} more` : '';
  return failed(
    NAME,
    `verify.require has seal, and the key of the newest entry is not given for ${named.join(', ')}${more}${unasked}`,
    'Get these keys from the operator of the service, and give them with verify.seal_keys.',
  );
}
