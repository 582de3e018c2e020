import { randomBytes } from 'node:crypto';
import { utf8Bytes } from '../../core/bytes.ts';
import { isEvidenceError } from '../../core/errors.ts';
import { inParallel } from '../../core/parallel.ts';
import { plural } from '../../core/plurals.ts';
import { firstOf, type Rows } from '../../core/rows/rows.ts';
import type { ClaimName } from '../../verifier/claims/claim.ts';
import { ReferenceDecoder } from '../../verifier/decode/reference/decoder.ts';
import type { SealKeys } from '../../verifier/model/entry.ts';
import type { EntryReader } from '../../verifier/reading/contract.ts';
import { attempt, type Check, failed, ok, skipped } from '../check.ts';
import type { AuditClient } from '../client/audit.ts';
import type { ListedStreamAnswer } from '../client/audit-answers.ts';
import { requestStamp, type Stamping } from '../export/stamp.ts';

type Stream = Pick<ListedStreamAnswer, 'streamId' | 'headSequence'>;

/** Entry reader and keys that the newest seals are checked with. */
interface Compared {
  contract: EntryReader;
  given: SealKeys;
}

interface NewestSeal {
  streamId: string;
  keyId: string;
  /**
   * - `made`: the given key produces this seal, or the listed entry does not suffice to tell.
   * - `other`: the key given under this id produces another seal.
   * - `not-given`: no key is given under this id.
   */
  state: 'made' | 'other' | 'not-given';
}

const NEWEST_SEALS = 'newest-seals';
/** Maximum number of streams whose newest entry is requested. */
const MOST_STREAMS = 1000;
const AT_ONCE = 4;
const SHOWN = 5;

/**
 * Checks that the newest seal of each stream is made with a given key, if seals have to be proved. With a wrong key
 * under that id, an export would refute the stream; after a key rotation, it would end incomplete.
 */
export async function checkNewestSeals(client: AuditClient, streams: Rows<Stream>, compared: Compared): Promise<Check> {
  const seals: NewestSeal[] = [];
  const asked = firstOf(streams, MOST_STREAMS);
  await inParallel(asked, AT_ONCE, async (stream) => {
    const newest = await client.newestSeal(stream);
    if (newest === null) return;
    const { keyId, entry } = newest;
    seals.push({ streamId: stream.streamId, keyId, state: compareSeal(entry, keyId, compared) });
  });
  const rest = streams.length - asked.length;
  const unasked = rest === 0 ? '' : `; ${plural(rest, 'more stream')} not looked at`;
  if (seals.length === 0) return skipped(NEWEST_SEALS, 'no listed entry names a seal key');
  const others = seals.filter(({ state }) => state === 'other');
  if (others.length > 0)
    return failed(
      NEWEST_SEALS,
      `the newest entry is sealed with a key that differs from the given key of the same id, for ${name(others)}${unasked}`,
      'Get these keys again from the operator of the service and set verify.seal_keys. An export with a wrong key permanently records the stream as refuted.',
    );
  const missing = seals.filter(({ state }) => state === 'not-given');
  if (missing.length === 0)
    return ok(NEWEST_SEALS, `${plural(seals.length, 'stream')} sealed with given keys${unasked}`);
  return failed(
    NEWEST_SEALS,
    `verify.require includes seal, but the key of the newest entry is not given for ${name(missing)}${unasked}`,
    'Get these keys from the operator of the service and set verify.seal_keys.',
  );
}

function compareSeal(entry: string, keyId: string, { contract, given }: Compared): NewestSeal['state'] {
  const key = given.get(keyId);
  if (key === undefined) return 'not-given';
  try {
    const read = new ReferenceDecoder(contract, given).read(utf8Bytes(entry));
    if (read.seal === null || read.seal === 'malformed') return 'made';
    return contract.sealOf(key, read) === read.seal.value ? 'made' : 'other';
  } catch (error) {
    // A list may show fewer members of an entry than a package does.
    if (isEvidenceError(error, 'contract') || isEvidenceError(error, 'unreadable')) return 'made';
    throw error;
  }
}

function name(seals: readonly NewestSeal[]): string {
  const named = seals.slice(0, SHOWN).map(({ streamId, keyId }) => `${streamId} (${keyId})`);
  const more = seals.length > SHOWN ? ` and ${seals.length - SHOWN} more` : '';
  return `${named.join(', ')}${more}`;
}

/** Checks that roots are configured if anchors have to be proved. @param roots null if none are configured. */
export function checkRoots(roots: readonly unknown[] | null, required: readonly ClaimName[]): Check {
  if (roots !== null) return ok('roots', `${plural(roots.length, 'root')} for judging anchors`);
  if (!required.includes('anchor'))
    return skipped('roots', 'none configured (verify.timestamp_roots), so anchors stay unproved');
  return failed(
    'roots',
    'verify.require includes anchor, but no roots are configured for judging anchors',
    'Get the root certificate from the authority and set verify.timestamp_roots.',
  );
}

/** Checks that the time-stamping authority issues a token over a random digest that verifies under the pinned roots. */
export function checkAuthority(stamping: Stamping): Promise<Check> {
  return attempt('time-stamp', async () => {
    const now = new Date();
    const next = { key: 'a token of evidence doctor', digest: randomBytes(32).toString('hex') };
    const { verdict } = await requestStamp({ stored: [], next }, stamping, { notBefore: now, outlasting: null, now });
    const { authority, until } = verdict;
    return ok(
      'time-stamp',
      `${stamping.authority.shown} answers as ${authority}; its tokens are valid until ${until?.toISOString()}`,
    );
  });
}
