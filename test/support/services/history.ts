/** What happened at an invented service, in terms of roles; how it is written and hashed is each service's own. */

export interface Draft {
  entryId: string;
  streamId: string;
  /** The first is 1. */
  sequence: number;
  /** Microseconds since 1970, UTC. */
  recordedAt: number;
  actor: string;
  action: string;
  resourceType: string;
  resourceId: string;
  /** JSON text, because a JavaScript number tells neither 1.0 from 1 nor 2^53 + 1 from 2^53. */
  details: string;
  keyId: string;
}

/** An entry as the service sends it. */
export interface Sealed extends Readonly<Draft> {
  /** Null where the service writes null for the first entry. */
  readonly previous: string | null;
  readonly digest: string;
  /** Of its own beside the digest; null when the service has none. */
  readonly seal: string | null;
  /** JSON. */
  readonly text: string;
}

/** How a service makes its chain, and which of its members is which. */
export interface ChainMaker {
  genesis: string | null;
  /** Looks like a digest and is none of any entry. */
  madeUpDigest: string;
  /** Its key is given to auditors. */
  keyId: string;
  /** Its key is given to nobody. */
  withheldKeyId: string;
  members: { actor: string; seal: string };
  /** Links the entries to `previous` and to each other. */
  seal(previous: string | null, drafts: readonly Draft[]): Sealed[];
}

export interface ServedStream {
  readonly streamId: string;
  readonly createdAt: number;
  readonly entries: readonly Sealed[];
  /** Behind `entries`: never delivered, though packages count them and name their head. */
  readonly withheld: readonly Sealed[];
}

export const MAIN_STREAM = 'payments';
export const OTHER_STREAM = 'iam.сотрудники 🔑';
export const EMPTY_STREAM = 'dormant';
export const MAIN_LENGTH = 250;
const OTHER_LENGTH = 23;

const HOUR = 3_600_000_000;
const BEGAN = Date.UTC(2026, 8, 20, 6) * 1000;

/** A maker makes its history once, whichever services tell it: it may take other programs to make it. */
const made = new WeakMap<ChainMaker, readonly ServedStream[]>();

/** Three streams, one of them empty; the main one reaches from September into October 2026. */
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
  // A whole second now and then: isoformat() and Instant.toString() leave its fraction out.
  const fraction = sequence % 20 === 0 ? 0 : sequence % 7 === 0 ? 120_000 : (sequence * 331_207) % 1_000_000;
  return {
    entryId: `${streamId === MAIN_STREAM ? 'p' : 'i'}-${String(sequence).padStart(6, '0')}`,
    streamId,
    sequence,
    recordedAt: BEGAN + sequence * 3 * HOUR + fraction,
    // The thirtieth, with which tampering is played, has a plain one.
    actor: sequence === 30 ? 'svc-deploy' : (ACTORS[sequence % ACTORS.length] ?? ''),
    action: sequence % 2 === 0 ? 'payment.approved' : 'payment.created',
    resourceType: 'payment',
    resourceId: `p/${sequence}`,
    details: detailsOf(sequence),
    keyId,
  };
}

const NUMBERS = ['1.0', '0.1', '1e-07', '1e+16', '-0.0', '1.5e+300', '12345678901', '3.14159'];

/** Keys beyond the basic plane sort differently by UTF-16 unit and by code point; DEL is escaped by Python alone. */
function detailsOf(sequence: number): string {
  if (sequence % 11 === 0) return '{}';
  const note = JSON.stringify(`ü "q" \\ / \u007f \u2028 😀 ${'<&>'} \b\f\n`);
  return `{"n":${sequence},"ratio":${NUMBERS[sequence % NUMBERS.length]},"note":${note},"ｆ":1,"😀":2,"nested":{"b":[1,2.5,{"z":null,"a":true}],"a":""}}`;
}

/** A JSON object with these members in this order, each value as the text it has. */
export function objectText(members: Record<string, string>): string {
  const pairs = Object.entries(members).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  return `{${pairs.join(',')}}`;
}

/** Half-open, in microseconds; null for no bound. */
export interface Period {
  from: number | null;
  to: number | null;
}

export function within<T extends Draft>(entries: readonly T[], { from, to }: Period): T[] {
  return entries.filter(({ recordedAt }) => (from === null || recordedAt >= from) && (to === null || recordedAt < to));
}

/** ISO 8601 times, taken as UTC when they name no zone; null when one is none. */
export function toPeriod(from: string | null, to: string | null): Period | null {
  const [first, end] = [from, to].map((text) => (text === null ? null : toMicroseconds(text)));
  return Number.isNaN(first) || Number.isNaN(end) ? null : { from: first ?? null, to: end ?? null };
}

function toMicroseconds(text: string): number {
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/.test(text) || !text.includes('T') ? text : `${text}Z`;
  return Date.parse(zoned) * 1000;
}

/** `2026-10-01T06:00:00.331207`, as Python's `isoformat()` writes a time without a zone. */
export function isoformat(microseconds: number): string {
  const fraction = microseconds % 1_000_000;
  const seconds = new Date((microseconds - fraction) / 1000).toISOString().slice(0, 19);
  return fraction === 0 ? seconds : `${seconds}.${String(fraction).padStart(6, '0')}`;
}
