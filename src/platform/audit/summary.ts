import type { EntryCount } from './entry-rows.ts';
import type { EntryRow } from './repository.ts';
import type { GenerateRequest, WireCheckpoint, WirePackageHead, WireStream, WireSummary } from './wire.ts';

/** Maximum number of names listed of each kind, so that the summary stays short even with a million actors. */
const MAX_NAMES = 1000;

/** Counts over the entries of a package. */
interface Census {
  count: number;
  first: EntryRow | null;
  last: EntryRow | null;
  counts: WireSummary['counts'];
  /** Kinds of which only the most frequent names are listed, with the total number of names. */
  shortened: { kind: string; names: number }[];
}

/** Adds up counts of entries. @param ends null if there are no entries. @throws the reason of `signal`. */
export async function takeCensus(
  parts: AsyncIterable<EntryCount>,
  ends: { first: EntryRow; last: EntryRow } | null,
  signal: AbortSignal,
): Promise<Census> {
  const actors = new Map<string, number>();
  const actions = new Map<string, number>();
  const types = new Map<string, number>();
  let count = 0;
  for await (const part of parts) {
    signal.throwIfAborted();
    count += part.count;
    actors.set(part.actor, (actors.get(part.actor) ?? 0) + part.count);
    actions.set(part.action, (actions.get(part.action) ?? 0) + part.count);
    types.set(part.resource_type, (types.get(part.resource_type) ?? 0) + part.count);
  }
  const tallies = { actors, actions, resource_types: types };
  const shortened = Object.entries(tallies)
    .filter(([, tally]) => tally.size > MAX_NAMES)
    .map(([kind, tally]) => ({ kind, names: tally.size }));
  const counts = { actors: listed(actors), actions: listed(actions), resource_types: listed(types) };
  return { count, first: ends?.first ?? null, last: ends?.last ?? null, counts, shortened };
}

/** Returns the most frequent names first. `Object.fromEntries` keeps a name like `__proto__`, unlike assignment. */
function listed(tally: Map<string, number>): Record<string, number> {
  const sorted = [...tally].sort(([nameA, a], [nameB, b]) => b - a || (nameA < nameB ? -1 : 1));
  return Object.fromEntries(sorted.slice(0, MAX_NAMES));
}

/** Returns the limits of what this package proves. */
function limitationsOf(stream: WireStream, census: Census, checkpoints: readonly WireCheckpoint[]): string[] {
  return [
    'The package shows what was recorded. It does not prove that everything that happened was recorded, or that what was recorded is true.',
    'Seals can be checked only with the seal key. Anyone with that key, including this service, could have rewritten the whole stream; only anchors by an independent authority and earlier exports would reveal it.',
    verificationLimit(stream, census),
    ...anchorLimits(census, checkpoints),
    ...census.shortened.map(
      ({ kind, names }) => `counts.${kind} lists the ${MAX_NAMES} most frequent of ${names} names.`,
    ),
  ];
}

function verificationLimit(stream: WireStream, census: Census): string {
  const rule = 'This service checks a stream only when Verify is run, not automatically.';
  if (stream.last_checked_at === null) return `${rule} Verify was never run on this stream.`;
  if (!stream.verified) return `${rule} The last check, at ${stream.last_checked_at}, failed.`;
  const through = stream.verified_through_sequence ?? 0;
  const last = census.last?.sequence ?? 0;
  const rest = last > through ? ` Entries of this package after ${through} were not checked.` : '';
  return `${rule} The last check, at ${stream.last_checked_at}, reached entry ${through}.${rest}`;
}

function anchorLimits({ last }: Census, checkpoints: readonly WireCheckpoint[]): string[] {
  if (last === null) return ['The selection contains no entries, so nothing was sealed or anchored.'];
  const anchored = checkpoints.filter(({ anchor }) => anchor.status === 'anchored');
  const external = anchored.filter(({ anchor }) => anchor.authority === 'external');
  const through = Math.max(0, ...external.map(({ sequence }) => sequence));
  const limits: string[] = [];
  if (external.length < anchored.length)
    limits.push(
      'Time stamps marked "development" come from an authority built into this service. That authority is not an external witness, so these time stamps prove nothing against the service itself.',
    );
  if (checkpoints.some(({ anchor }) => anchor.status === 'failed'))
    limits.push('Some checkpoints of this package were changed outside the service and do not count as anchors.');
  if (checkpoints.some(({ anchor }) => anchor.status === 'pending'))
    limits.push('Some checkpoints of this package are pending: they have no time stamp yet.');
  if (through === 0) limits.push('No entry of this package is anchored by an external time-stamping authority.');
  else if (through < last.sequence)
    limits.push(`Entries after ${through} are not anchored by an external time-stamping authority.`);
  return limits;
}

interface SettledFacts {
  packageId: string;
  stream: WireStream;
  period: WireSummary['period'];
  now: string;
  census: Census;
  /** Anchors without their tokens. */
  anchors: WireCheckpoint[];
}

/** Returns the package without its checkpoints and entries, which are read for each download. */
export function headOf({ packageId, stream, period, now, census }: SettledFacts): Omit<WirePackageHead, 'checkpoints'> {
  return {
    format: 'evidence-package/1',
    package_id: packageId,
    stream,
    period,
    generated_at: now,
    ...extentOf(census),
  };
}

function extentOf({ count, first, last }: Census) {
  const ends = { first_sequence: first?.sequence ?? null, last_sequence: last?.sequence ?? null };
  return { entry_count: count, ...ends, head_hash: last?.hash ?? null };
}

export function summaryOf({ packageId, stream, period, census, anchors }: SettledFacts): WireSummary {
  return {
    package_id: packageId,
    stream_id: stream.stream_id,
    period,
    ...extentOf(census),
    first_timestamp: census.first?.timestamp ?? null,
    last_timestamp: census.last?.timestamp ?? null,
    counts: census.counts,
    verification: { verified: stream.verified, last_checked_at: stream.last_checked_at },
    limitations: limitationsOf(stream, census, anchors),
  };
}

export function periodOf({ from, to }: GenerateRequest): WireSummary['period'] {
  return from || to ? { from: from ?? null, to: to ?? null } : null;
}
