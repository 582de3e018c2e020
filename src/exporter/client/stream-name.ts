import { sha256 } from '../../core/digest.ts';
import { cutText, isWellFormedJson, visibleText } from '../../core/foreign-text.ts';
import type { Json } from '../../core/json/canonical.ts';
import type { ListedStreamAnswer } from './audit-answers.ts';

/** Code units of an id. Longer ones fit into no address, and every record has them many times. */
const MAX_ID = 1024;
const SHOWN_OF_ID = 60;

/**
 * The name under which a stream is exported: its id. One whose id or record cannot be recorded is not exported; the run
 * names it so that it can be told from others.
 */
export function nameStream(
  { streamId, drift }: Pick<ListedStreamAnswer, 'streamId' | 'drift'>,
  item: Json,
): Pick<ListedStreamAnswer, 'streamId' | 'drift'> {
  const name = visibleText(streamId);
  if (streamId.length > MAX_ID)
    return {
      streamId: `${cutText(streamId, SHOWN_OF_ID)} (SHA-256 ${sha256(name)})`,
      drift: `its id has ${streamId.length} characters, and at most ${MAX_ID} are taken`,
    };
  if (isWellFormedJson(item)) return { streamId, drift };
  return { streamId: name, drift: 'its record in the list has half of a surrogate pair, which no UTF-8 text can have' };
}
