import type { Rows } from '../../../core/rows/rows.ts';
import { grouped, plural } from '../../../core/words.ts';
import { CLAIMS, type ClaimName } from '../../../verifier/claims/claim.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { countedFor, isReceivedWhole } from './claims.ts';
import { isAccepted, type Missing, toMissing } from './missing.ts';
import { sayMissing } from './population.ts';
import type { Texts } from './texts.ts';
import { fill } from './words.ts';

/** One thing that has to hold of every stream for the extract to be complete and accurate. */
interface Condition {
  text: string;
  holds: number;
  of: number;
}

/** What follows for completeness and accuracy: the sentence first, then the conditions one by one. */
export function toConclusion(record: RunRecord, { conclusion: texts, population }: Texts): string[] {
  const { streams, failed } = record;
  const missing = toMissing(record);
  const conditions = conditionsOf(streams, failed.length, texts);
  const open = conditions.filter(({ holds, of }) => holds < of);
  return [
    sentenceOf({ conditions, open, missing, refuted: refutedIn(streams) }, texts),
    ...conditions.map(({ text, holds, of }) => `${text}: ${grouped(holds)} of ${grouped(of)}`),
    sayMissing(missing, population),
  ];
}

function conditionsOf(streams: Rows<RunStream>, failed: number, texts: Texts['conclusion']): Condition[] {
  // Of a stream that failed nobody knows.
  const proved = (name: ClaimName, isLeftOut: (stream: RunStream) => boolean = () => false) => {
    const counted = countedFor(name, streams);
    const holding = counted.filter((stream) => stream.claims[name].state === 'proved' && !isLeftOut(stream));
    return { holds: holding.length, of: counted.length + failed };
  };
  return [
    { text: texts.received, holds: streams.filter(isReceivedWhole).length, of: streams.length + failed },
    { text: texts.listing, ...proved('completeness') },
    { text: texts.order, ...proved('order') },
    { text: texts.content, ...proved('content') },
    { text: texts.continuity, ...proved('continuity', isAccepted) },
    {
      text: texts.unrefuted,
      holds: streams.filter((stream) => refutedIn([stream]).length === 0).length,
      of: streams.length,
    },
  ];
}

/** The claims that are refuted in one of the streams. */
function refutedIn(streams: Rows<RunStream>): ClaimName[] {
  return CLAIMS.filter((name) => streams.some(({ claims }) => claims[name].state === 'refuted'));
}

interface Known {
  conditions: readonly Condition[];
  open: readonly Condition[];
  missing: Missing;
  refuted: readonly ClaimName[];
}

function sentenceOf({ conditions, open, missing, refuted }: Known, texts: Texts['conclusion']): string {
  const isMissing = missing.entries + missing.vanished + missing.failed > 0;
  const [received, listing] = conditions;
  if (isMissing) return texts.is_missing;
  if (refuted.length > 0) return fill(texts.refuted, { claims: refuted.join(', ') });
  if (received === undefined || received.of === 0 || listing?.of === 0) return texts.nothing;
  if (open.length > 0) return texts.open;
  return fill(missing.accepted > 0 ? texts.accepted : texts.holds, { streams: plural(received.of, 'stream') });
}
