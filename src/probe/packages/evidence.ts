import type { Json } from '../../core/json/canonical.ts';
import type { Description } from '../../verifier/profile/description.ts';
import { DEFAULT_DESCRIPTION } from '../../verifier/reading/default-contract.ts';
import type { Chain, EntriesSurvey } from '../lists/survey.ts';
import type { Hints } from '../openapi.ts';
import type { Reasoning } from '../report.ts';
import { pathsOfValue } from '../roles/entry.ts';
import {
  entriesPathOf,
  findCheckpoints,
  findFormat,
  findPackageFields,
  findSummary,
  guessEntriesPath,
  unlikeNamed,
} from '../roles/package.ts';
import { byName } from '../sample/names.ts';
import { type Ask, isSuccess, jsonOf, type Sample, type SampleAnswer, samplesAt, scalarAt } from '../sample/sample.ts';
import {
  type BodyNames,
  bodyNamesOf,
  findReadiness,
  generateOne,
  NOT_YET,
  type ReadyPackage,
  toBody,
} from './generate.ts';
import { type ReadForm, reportPackage, type Sections } from './package-report.ts';

export interface EvidencePackage {
  sections: Sections;
  /** Entries of the package, if it was seen. */
  entries: Sample[];
  wasSeen: boolean;
}

/** Findings before packages are examined. */
interface BeforePackage {
  hints: Hints;
  survey: EntriesSurvey;
  chain: Chain;
  listing: Description['entries'];
}

/** Returns the body's names as described for generate, or as the list of entries uses them. */
function namesFor({ hints, listing }: BeforePackage): BodyNames {
  if (hints.generate !== null && hints.generate.body.length > 0) return bodyNamesOf(hints.generate.body);
  const {
    stream_parameter: stream = 'stream_id',
    from_parameter: from = null,
    to_parameter: to = null,
  } = listing ?? {};
  return { stream, from, to };
}

/** Guesses the form of a package from the other findings, without having seen one. */
export function suggestPackage(known: BeforePackage, why: string, reasoning: Reasoning): EvidencePackage {
  reasoning.lacks('package', why, 'its form is a guess, and an export will probably fail on it');
  const answered = known.hints.generate?.answer.map(({ name }) => name) ?? [];
  const id = byName(answered, [/^(package|evidence) id$/, /^(id|uuid)$/]) ?? 'package_id';
  return {
    wasSeen: false,
    entries: [],
    sections: {
      generate: {
        ...generateSection(known.hints, namesFor(known)),
        fields: { package_id: id, stream_id: null, entry_count: null },
        scope: 'stream',
        ready: { when: 'download-answers', not_yet: [...NOT_YET] },
      },
      downloads: DEFAULT_DESCRIPTION.downloads,
      package: {
        entries: guessEntriesPath(known.survey.list.items),
        format: null,
        fields: NOTHING_STATED,
        checkpoints: null,
      },
      summary: null,
    },
  };
}

const NOTHING_STATED: Description['package']['fields'] = {
  package_id: null,
  stream_id: null,
  entry_count: null,
  first_sequence: null,
  last_sequence: null,
  head_digest: null,
  generated_at: null,
};

function generateSection(hints: Hints, names: BodyNames) {
  return {
    path: '/evidence/generate',
    body: toBody(names),
    idempotency_header: hints.generate?.idempotencyHeader ?? null,
  };
}

/** Requests one package and reads its form from it. */
export async function inferPackage(
  ask: Ask,
  pause: () => Promise<boolean>,
  known: BeforePackage,
  reasoning: Reasoning,
): Promise<EvidencePackage> {
  const { survey } = known;
  const { names, answer, package: made } = await generateOne(ask, namesFor(known), survey.exampleId, pause);
  if (made === null) {
    const why = isSuccess(answer)
      ? `generate answered ${answer.status}, but no package could be downloaded`
      : `generate was refused: ${answer.error?.message ?? answer.status}`;
    reasoning.doubts('package', why, 1);
    return suggestPackage(known, why, reasoning);
  }
  const read = readPackage(made, known);
  if (read === null) {
    const why = 'the package has no entries like those in the list';
    reasoning.doubts('package', why, 1);
    return suggestPackage(known, why, reasoning);
  }
  const generate: Description['generate'] = {
    ...generateSection(known.hints, names),
    scope: read.scope,
    fields: {
      package_id: made.idField,
      stream_id: byName(pathsOfValue(jsonOf(answer), survey.exampleId), [/.*/]) ?? null,
      // A correct count may cover the whole stream; a single package does not show which.
      entry_count: null,
    },
    ready: await findReadiness(ask, answer, made, known.hints),
  };
  const { downloads, summary } = await readOtherForms(ask, made.id, read, known);
  const sections = { generate, downloads, package: read.form, summary };
  reportPackage(sections, read, answer, reasoning);
  return { wasSeen: true, entries: read.entries, sections };
}

function readPackage({ id, text }: ReadyPackage, { survey, chain }: BeforePackage): ReadForm | null {
  const document: Json = JSON.parse(text);
  const path = entriesPathOf(document, chain.roles);
  if (path === null) return null;
  const entries = samplesAt(text, path);
  const scope = chain.streamId !== null && holdsOthers(entries, survey, chain) ? 'account' : 'stream';
  const streamId = scope === 'account' ? null : survey.exampleId;
  const checkpoints = findCheckpoints(text, entries, chain.roles, path, streamId);
  const fields = findPackageFields(document, entries, chain.roles, { packageId: id, streamId });
  return {
    entries,
    scope,
    streamId,
    differ: checkpoints.differ,
    unlike: scope === 'stream' ? unlikeNamed(document, fields) : [],
    form: { entries: path, format: findFormat(document), fields, checkpoints: checkpoints.form },
  };
}

/**
 * Reports whether the package covers all streams: it contains most entries of another stream, not just one or two
 * foreign entries.
 */
function holdsOthers(
  entries: readonly Sample[],
  { streams, exampleId }: EntriesSurvey,
  { roles: { digest } }: Chain,
): boolean {
  const held = new Set(entries.map(({ value }) => scalarAt(value, digest)));
  return streams.some(({ streamId, entries: listed }) => {
    const both = listed.filter(({ value }) => held.has(scalarAt(value, digest)));
    return streamId !== exampleId && 2 * both.length > listed.length;
  });
}

async function readOtherForms(
  ask: Ask,
  id: string,
  { entries, streamId }: ReadForm,
  { chain }: BeforePackage,
): Promise<Pick<Sections, 'downloads' | 'summary'>> {
  const at = (form: string) => ask({ url: `/evidence/${encodeURIComponent(id)}/${form}` });
  const [summary, pdf]: [SampleAnswer, SampleAnswer] = [await at('summary'), await at('pdf')];
  const { downloads } = DEFAULT_DESCRIPTION;
  const facts = isSuccess(summary)
    ? findSummary(jsonOf(summary), entries, chain.roles, { packageId: id, streamId })
    : null;
  return {
    downloads: {
      json: downloads.json,
      pdf: isSuccess(pdf) ? downloads.pdf : null,
      summary: isSuccess(summary) ? downloads.summary : null,
    },
    summary: facts,
  };
}
