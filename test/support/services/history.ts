/** History of an invented service, by role of each member; each service formats and hashes it differently. */

export interface Draft {
  entryId: string;
  streamId: string;
  /** Sequence number, from 1. */
  sequence: number;
  /** Microseconds since 1970, UTC. */
  recordedAt: number;
  actor: string;
  action: string;
  resourceType: string;
  resourceId: string;
  /** JSON text, because JavaScript numbers cannot distinguish 1.0 from 1, or 2^53 + 1 from 2^53. */
  details: string;
  keyId: string;
}

/** An entry as the service sends it. */
export interface Sealed extends Readonly<Draft> {
  /** Digest of the predecessor; null if the service writes null for the first entry. */
  readonly previous: string | null;
  readonly digest: string;
  /** Seal other than the digest; null if the service has none. */
  readonly seal: string | null;
  /** JSON text. */
  readonly text: string;
}

/** Chain builder of a service, with the roles of its members. */
export interface ChainMaker {
  genesis: string | null;
  /** A well-formed digest of no entry. */
  madeUpDigest: string;
  /** Id of a key that auditors receive. */
  keyId: string;
  /** Id of a key that nobody receives. */
  withheldKeyId: string;
  members: { actor: string; seal: string };
  /** Links the entries to `previous` and to each other. */
  seal(previous: string | null, drafts: readonly Draft[]): Sealed[];
}

export interface ServedStream {
  readonly streamId: string;
  readonly createdAt: number;
  readonly entries: readonly Sealed[];
  /** Entries after `entries` that are never delivered, although packages count them and name their head. */
  readonly withheld: readonly Sealed[];
}

export const MAIN_STREAM = 'payments';
export const OTHER_STREAM = 'iam.сотрудники 🔑';
export const EMPTY_STREAM = 'dormant';
export const MAIN_LENGTH = 250;
const OTHER_LENGTH = 23;

const HOUR = 3_600_000_000;
const BEGAN = Date.UTC(2026, 8, 20, 6) * 1000;

/** Histories by maker, made once because a maker may start other programs. */
const made = new WeakMap<ChainMaker, readonly ServedStream[]>();

/** Returns three streams, one of them empty; the main one spans September and October 2026. */
export function originalHistory(maker: ChainMaker): readonly ServedStream[] {
  const streams = made.get(maker) ?? makeHistory(maker);
  made.set(maker, streams);
  return streams;
}

function makeHistory(maker: ChainMaker): ServedStream[] {
  const stream = (streamId: string, length: number): ServedStream => ({
    streamId,
    createdAt: BEGAN - HOUR,
    entries: maker.seal(
      maker.genesis,
      Array.from({ length }, (_, index) => draftOf(streamId, index + 1, maker.keyId)),
    ),
    withheld: [],
  });
  return [stream(MAIN_STREAM, MAIN_LENGTH), stream(OTHER_STREAM, OTHER_LENGTH), stream(EMPTY_STREAM, 0)];
}

const ACTORS = ['svc-deploy', 'Zoë Müller', '运维-机器人', 'ops+night@example.com', 'a "quoted" \\ one\t'];

function draftOf(streamId: string, sequence: number, keyId: string): Draft {
  // Some times are whole seconds, whose fraction isoformat() and Instant.toString() omit.
  const fraction = sequence % 20 === 0 ? 0 : sequence % 7 === 0 ? 120_000 : (sequence * 331_207) % 1_000_000;
  return {
    entryId: `${streamId === MAIN_STREAM ? 'p' : 'i'}-${String(sequence).padStart(6, '0')}`,
    streamId,
    sequence,
    recordedAt: BEGAN + sequence * 3 * HOUR + fraction,
    // Tampering uses the thirtieth entry, so its actor is plain.
    actor: sequence === 30 ? 'svc-deploy' : (ACTORS[sequence % ACTORS.length] ?? ''),
    action: sequence % 2 === 0 ? 'payment.approved' : 'payment.created',
    resourceType: 'payment',
    resourceId: `p/${sequence}`,
    details: detailsOf(sequence),
    keyId,
  };
}

const NUMBERS = ['1.0', '0.1', '1e-07', '1e+16', '-0.0', '1.5e+300', '12345678901', '3.14159'];

/**
 * Returns keys beyond the basic plane, which sort differently by UTF-16 unit and by code point, and DEL, which only
 * Python escapes.
 */
function detailsOf(sequence: number): string {
  if (sequence % 11 === 0) return '{}';
  const note = JSON.stringify(`ü "q" \\ / \u007f \u2028 😀 ${'<&>'} \b\f\n`);
  return `{"n":${sequence},"ratio":${NUMBERS[sequence % NUMBERS.length]},"note":${note},"ｆ":1,"😀":2,"nested":{"b":[1,2.5,{"z":null,"a":true}],"a":""}}`;
}

/** Returns a JSON object with these members in this order; values are JSON texts. */
export function objectText(members: Record<string, string>): string {
  const pairs = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return `{${pairs.join(',')}}`;
}

/** Half-open period in microseconds; null for no bound. */
export interface Period {
  from: number | null;
  to: number | null;
}

export function within<T extends Draft>(entries: readonly T[], { from, to }: Period): T[] {
  return entries.filter(({ recordedAt }) => (from === null || recordedAt >= from) && (to === null || recordedAt < to));
}

/** Parses ISO 8601 times, as UTC without a zone; null if one is invalid. */
export function toPeriod(from: string | null, to: string | null): Period | null {
  const [first, end] = [from, to].map((text) => (text === null ? null : toMicroseconds(text)));
  return Number.isNaN(first) || Number.isNaN(end) ? null : { from: first ?? null, to: end ?? null };
}

function toMicroseconds(text: string): number {
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes('T') ? text : `${text}Z`;
  return Date.parse(zoned) * 1000;
}

/** Formats a time as Python's `isoformat()` does without a zone: `2026-10-01T06:00:00.331207`. */
export function isoformat(microseconds: number): string {
  const fraction = microseconds % 1_000_000;
  const seconds = new Date((microseconds - fraction) / 1000).toISOString().slice(0, 19);
  return fraction === 0 ? seconds : `${seconds}.${String(fraction).padStart(6, '0')}`;
}
