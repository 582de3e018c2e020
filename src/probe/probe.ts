import type { Json } from '../core/json/canonical.ts';
import type { SealKeys } from '../verifier/model/entry.ts';
import { type Description, descriptionSchema } from '../verifier/profile/description.ts';
import type { List } from '../verifier/profile/list-description.ts';
import { findChainOf } from './chain.ts';
import { likeDefault } from './digest/default-fit.ts';
import { describeEntry, inferDigest } from './digest/digest.ts';
import { byStream, inferEntries } from './lists/entries.ts';
import { inferStreams, readStreamRecords } from './lists/streams.ts';
import type { Chain, EntriesSurvey } from './lists/survey.ts';
import { type Hints, NO_HINTS, readOpenApi } from './openapi.ts';
import { type EvidencePackage, inferPackage, suggestPackage } from './packages/evidence.ts';
import { inferVerify } from './packages/verify.ts';
import { Reasoning } from './report.ts';
import type { Ask } from './sample/sample.ts';

interface ProbeOptions {
  ask: Ask;
  /** OpenAPI document of the service, and the prefix of its paths before those of the audit service. */
  openApi: { document: Json; prefix: string } | null;
  /** Name of the contract. */
  name: string;
  /** True if the probe may generate one evidence package. */
  generate: boolean;
  keys: SealKeys;
  /** Starts the time limit of a search; the returned function reports whether it is used up. */
  startSearch: () => () => boolean;
  /** Waits before a pending package is checked again; false when it has waited long enough. */
  pause: () => Promise<boolean>;
}

/** Explanations of each section of the contract, for the comments in its file. */
export type Notes = Partial<Record<keyof Description, string>>;

export interface ProbeResult {
  /** Contract; null if something is missing that every export needs. */
  description: Description | null;
  /** True if the contract equals the default contract, so that no file is needed. */
  isDefault: boolean;
  reasoning: Reasoning;
  notes: Notes;
}

/** Determines a service's contract: from its answers first, and from names if values are ambiguous. */
export async function probe(options: ProbeOptions): Promise<ProbeResult> {
  const { ask } = options;
  const reasoning = new Reasoning();
  const hints = readHints(options, reasoning);
  const nothing = { description: null, isDefault: false, reasoning, notes: {} };

  const streams = await inferStreams(ask, hints, reasoning);
  if (streams === null) return nothing;
  const entries = await inferEntries(ask, hints, streams, reasoning);
  const chain = entries === null ? null : findChainOf(entries, reasoning);
  if (entries === null || chain === null) return nothing;

  const records = readStreamRecords(streams, entries.streams, chain.roles, reasoning);
  const listing = await entries.describe(chain, reasoning);
  const verify = await inferVerify(ask, hints, entries.exampleId, reasoning);
  const known = { hints, survey: entries, chain, listing };
  const made: EvidencePackage = options.generate
    ? await inferPackage(ask, options.pause, known, reasoning)
    : suggestPackage(known, 'none was made, so its form was not seen', reasoning);
  const list = { ...alike(streams.list, entries.list), fields: { stream_id: streams.idField, ...records } };
  const description = proveDigest(options, { ...known, streams: list, verify }, made, reasoning);
  const standard = likeDefault(description, made.wasSeen);
  return {
    description: standard ?? description,
    isDefault: standard !== null,
    reasoning,
    notes: notesOf(made.wasSeen, description, hints, reasoning),
  };
}

/** Findings apart from packages and digests. */
interface Found {
  hints: Hints;
  survey: EntriesSurvey;
  chain: Chain;
  streams: Description['streams'];
  listing: Description['entries'];
  verify: Description['verify'];
}

/** Returns the description with the recipe that reproduces the digests of the sampled entries. */
function proveDigest(
  { name, keys, startSearch }: ProbeOptions,
  { hints, survey, chain, streams, listing, verify }: Found,
  made: EvidencePackage,
  reasoning: Reasoning,
): Description {
  const { entry, seal } = describeEntry(survey, chain);
  const draft: Description = {
    format: 'evidence-contract/1',
    name,
    numbers: chain.roles.numbers,
    streams,
    entries: listing,
    verify,
    ...made.sections,
    entry,
    digest: { ...chain.digest, recipe: null },
    seal: null,
  };
  const sampled =
    made.entries.length > 0 ? byStream({ items: made.entries, isWhole: true }, chain.streamId) : survey.streams;
  const search = { draft, chain, streams: sampled, seal, hints, keys, isOver: startSearch() };
  return descriptionSchema.parse({ ...draft, ...inferDigest(search, reasoning) });
}

function readHints({ openApi }: ProbeOptions, reasoning: Reasoning): Hints {
  if (openApi === null) return NO_HINTS;
  const hints = readOpenApi(openApi.document, openApi.prefix);
  const made = hints.isPython ? ', made by FastAPI: the service is written in Python' : '';
  if (hints.isOffered) reasoning.found('OpenAPI', 'offered', `read at /openapi.json${made}`);
  return hints;
}

/** Limits the page size of a list that was too short to test to that of the other list. */
function alike(list: List, { limit }: List): List {
  if (list.limit === null || limit === null || list.limit.parameter !== limit.parameter) return list;
  return { ...list, limit: { ...list.limit, size: Math.min(list.limit.size, limit.size) } };
}

const UNSEEN = 'NOT SEEN: no package was made. Run the probe again with --generate to make one.';

const NO_RECIPE = `No recipe that was tried reproduces the digests, so content cannot be proved. An export is incomplete (exit 3)
until the vendor says how digests are made, or a person accepts it in evidence.yaml: verify: { require: [order] }`;

const PROVED = 'Proved: the recipe reproduces the digest of every entry that was sampled.';
const PROVED_FOR_MOST = `Proved for nearly every entry that was sampled. \`evidence probe\` named those whose digest it does not
reproduce; an export reports them as refuted.`;

function notesOf(
  sawPackage: boolean,
  { digest, verify, seal, entries }: Description,
  hints: Hints,
  { exceptions }: Reasoning,
): Notes {
  const package_ = sawPackage ? 'Found in a package made for this probe.' : UNSEEN;
  return {
    streams: 'Found by reading the list; the values in entries show what each field is.',
    entries:
      entries === null
        ? 'No listing of the entries of one stream was found.'
        : 'Found by trying; a parameter is listed only if it does what its name says.',
    verify:
      verify === null
        ? 'Not found. If the service has such an operation, describe it here.'
        : hints.verify === null
          ? 'The address was found by asking; the fields of its answer were NOT SEEN and are those of the default contract.'
          : "Found in the service's OpenAPI document.",
    generate: package_,
    downloads: package_,
    package: package_,
    summary: package_,
    entry: 'Found by structure: which number counts up, and which field repeats the digest of the entry before.',
    digest:
      digest.recipe === null ? NO_RECIPE : exceptions.some(({ what }) => what === 'recipe') ? PROVED_FOR_MOST : PROVED,
    seal: seal === null ? 'None was found.' : 'Found by form and name; proved only where a key was given to the probe.',
  };
}
