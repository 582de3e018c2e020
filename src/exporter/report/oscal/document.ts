// Over 250 lines: it is one document, with a function for each part.

import { utf8Bytes } from '../../../core/bytes.ts';
import { StreamingSha256 } from '../../../core/digest.ts';
import { plural } from '../../../core/plurals.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import { CLAIMS } from '../../../verifier/claims/claim.ts';
import { lengthOf } from '../../../verifier/claims/ranges.ts';
import { latestOf } from '../../../verifier/records/coverage.ts';
import type { RunRecord, RunStream } from '../../../verifier/records/record.ts';
import { recordPieces } from '../../../verifier/records/record-bytes.ts';
import { anchoredIn } from '../view/anchors.ts';
import { missingIn, statedEntries, sum } from '../view/missing.ts';
import { toOutcome } from '../view/outcome.ts';
import { sayExclusion } from '../view/sentences.ts';
import type { Texts } from '../view/texts.ts';
import { line, paragraph, toToken, uuidOf } from './tokens.ts';

const OSCAL_VERSION = '1.2.1';
/** Depth of streamed serialization, down to single observations, which are generated one at a time. */
const LEVELS = 5;
/** Id of the control for observations when no framework is configured: the integrity of the evidence. */
const NO_CONTROL = 'evidence-integrity';

/**
 * Renders `assessment-results.json`: the run as OSCAL assessment results, in pieces. Each stream is an observation.
 * There are no OSCAL findings: a finding states whether a control is satisfied, which is the assessor's decision.
 */
export function renderOscal(record: RunRecord, texts: Texts): Iterable<string> {
  const version = versionOf(record);
  const organisation = record.report.organisation;
  const plan = uuidOf('plan', record.run_id, version);
  const document = {
    'assessment-results': {
      uuid: uuidOf('assessment-results', record.run_id, version),
      metadata: {
        title: line(`${texts.title}, run ${record.run_id}`),
        'last-modified': record.finished_at,
        version: record.run_id,
        'oscal-version': OSCAL_VERSION,
        props: [{ name: 'run-outcome', ns: NAMESPACE, value: record.outcome }],
        ...(organisation === null
          ? {}
          : {
              parties: [{ uuid: uuidOf('party', organisation), type: 'organization', name: line(organisation) }],
            }),
      },
      'import-ap': { href: `#${plan}` },
      results: [toResult(record, texts, version)],
      'back-matter': {
        resources: resources(record, plan),
      },
    },
  };
  return recordPieces(document, LEVELS);
}

/**
 * Returns the digest of the data behind the results. The digest of a stream's record covers everything about the
 * stream.
 */
function versionOf({ documents: _documents, streams, ...rest }: RunRecord): string {
  const digest = new StreamingSha256();
  digest.update(utf8Bytes(JSON.stringify(rest)));
  for (const { record, bundle } of streams) digest.update(utf8Bytes(JSON.stringify([record?.sha256, bundle.sha256])));
  return digest.finish().sha256;
}

/** Namespace of this program's properties. */
const NAMESPACE = 'https://evidence-exporter.invalid/ns/oscal';

function toResult(record: RunRecord, texts: Texts, version: string) {
  const { run_id, period, source, begun_at, finished_at } = record;
  const { supplements: _supplements, ...reconciliation } = record.reconciliation;
  const { words, sentences } = toOutcome(record, 'run', texts);
  const isEmpty = [record.streams, record.failed, record.vanished, record.ended, record.excluded].every(
    ({ length }) => length === 0,
  );
  const props = {
    ...Object.fromEntries(Object.entries(reconciliation).map(([name, count]) => [`streams-${name}`, count])),
    entries: sum(record.streams.map(({ entries }) => entries)),
    'period-from': period.from,
    'period-to': period.to,
    'period-field': source.time_fields.recorded,
    ...supplementProps(record),
  };
  return {
    uuid: uuidOf('result', run_id, version),
    title: line(words.join(', ')),
    description: paragraph([`Period: ${describePeriod(period, latestOf(record))}.`, ...sentences].join(' ')),
    start: begun_at,
    end: finished_at,
    props: toProps(props),
    'local-definitions': { components: [toolOf(record)] },
    'reviewed-controls': reviewedControls(record),
    ...(isEmpty ? {} : { observations: observe(record) }),
  };
}

/** Counts the records of other services by kind and state. */
function supplementProps({ supplements }: RunRecord): Record<string, number> {
  return Object.fromEntries(
    Object.entries(supplements?.kinds ?? {}).flatMap(([kind, counts]) =>
      Object.entries(counts ?? {}).map(([name, count]) => [`${kind}-${name.replaceAll('_', '-')}`, count]),
    ),
  );
}

/** Converts values to OSCAL properties, without unknown and empty ones. */
function toProps(values: Record<string, string | number | boolean | null>) {
  return Object.entries(values)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => ({ name, ns: NAMESPACE, value: line(String(value)) }));
}

/** Returns the component that made the observations. */
function toolOf({ tool }: RunRecord) {
  return {
    uuid: toolUuid(tool),
    type: 'software',
    title: line(tool.name),
    description: line(`${tool.name} ${tool.version}, which exported the evidence and checked it.`),
    props: [
      { name: 'version', value: line(tool.version) },
      ...(tool.commit === null ? [] : [{ name: 'commit', ns: NAMESPACE, value: line(tool.commit) }]),
    ],
    status: { state: 'operational' },
  };
}

function toolUuid({ name, version, commit }: RunRecord['tool']): string {
  return uuidOf('tool', name, version, commit ?? '');
}

/** Yields the resources: the plan, and each stream that observations are about. */
function* resources(record: RunRecord, plan: string) {
  yield {
    uuid: plan,
    title: 'What was to be exported and checked',
    description: paragraph('The scope of the run, its required claims and its period, as run.json states them.'),
    rlinks: [{ href: 'run.json', 'media-type': 'application/json' }],
  };
  const exported = new Set<string>();
  for (const { stream_id, bundle } of record.streams) {
    exported.add(stream_id);
    const hashes = [{ algorithm: 'SHA-256', value: bundle.sha256 }];
    yield { ...streamResource(record, stream_id), rlinks: [{ href: hrefOf(bundle.key), hashes }] };
  }
  for (const { stream_id } of [...record.failed, ...record.vanished, ...record.ended, ...record.excluded])
    if (!exported.has(stream_id)) yield streamResource(record, stream_id);
}

function streamResource(record: RunRecord, streamId: string) {
  return {
    uuid: streamUuid(record, streamId),
    title: line(streamId),
    description: paragraph(`A stream of the audit service at ${record.source.audit_url}.`),
  };
}

function streamUuid({ source }: RunRecord, streamId: string): string {
  return uuidOf('stream', source.audit_url, streamId);
}

/** Returns a reference from the run's folder to an object, whose key is relative to the archive. */
function hrefOf(key: string): string {
  return `../../${key.split('/').map(encodeURIComponent).join('/')}`;
}

function* observe(record: RunRecord) {
  const stated = statedEntries(record);
  for (const stream of record.streams) yield observeStream(record, stream);
  for (const { stream_id, reason } of record.failed)
    yield observeAbsence(record, stream_id, `Not exported: ${reason}`, {
      status: 'failed',
      stated_entries: stated.get(stream_id) ?? null,
    });
  for (const { stream_id, finding, entries } of record.vanished)
    yield observeAbsence(record, stream_id, finding.message, { status: 'vanished', missing_entries: entries });
  for (const { stream_id, finding, entries } of record.ended)
    yield observeAbsence(record, stream_id, finding.message, { status: 'ended', missing_entries: entries });
  for (const { stream_id, pattern } of record.excluded)
    yield observeAbsence(record, stream_id, `Excluded by the exporter: ${sayExclusion(pattern)}`, {
      status: 'excluded',
      stated_entries: stated.get(stream_id) ?? null,
    });
}

function reviewedControls({ report }: RunRecord) {
  const selections = report.controls.map(({ framework, controls }) => ({
    description: paragraph(
      `${framework}: controls that the evidence addresses. This document does not state whether they are satisfied.`,
    ),
    'include-controls': controls.map(({ id }) => ({ 'control-id': toToken(id) })),
  }));
  if (selections.length > 0) return { 'control-selections': selections };
  const description = 'No framework was selected; the integrity of the evidence itself was checked.';
  return { 'control-selections': [{ description, 'include-controls': [{ 'control-id': NO_CONTROL }] }] };
}

function observeStream(record: RunRecord, stream: RunStream) {
  const { stream_id, status, partial, entries, claims, bundle, findings, service, collected } = stream;
  const told = findings.slice(0, 20).map(({ code, message }) => `- ${code}: ${paragraph(message)}`);
  const state = partial ? `${status}, PARTIAL` : status;
  const anchored = anchoredIn(stream);
  return {
    uuid: uuidOf('observation', record.run_id, stream_id, bundle.identity),
    title: line(stream_id),
    description: [`Audit evidence of the stream: ${state}; ${plural(entries, 'entry')}.`, ...told].join('\n'),
    props: toProps({
      status,
      entries,
      'stated-entries': service.entries,
      'listed-entries': service.listed,
      'missing-entries': lengthOf(missingIn(stream, record.period)),
      'first-recorded-at': stream.first_recorded_at,
      'first-occurred-at': stream.first_occurred_at,
      'last-recorded-at': stream.last_recorded_at,
      'last-occurred-at': stream.last_occurred_at,
      'anchored-through': anchored?.through ?? null,
      'entries-after-anchor': anchored?.after ?? null,
      'received-from': collected.requested_at,
      ...Object.fromEntries(CLAIMS.map((name) => [`claim-${name}`, claims[name].state])),
      'bundle-sha256': bundle.sha256,
    }),
    methods: ['TEST'],
    ...(status === 'refuted' ? { types: ['finding'] } : {}),
    origins: originsOf(record),
    subjects: [subjectOf(record, stream_id)],
    'relevant-evidence': [{ href: hrefOf(bundle.key), description: paragraph(`The bundle, SHA-256 ${bundle.sha256}`) }],
    collected: collected.received_at,
  };
}

function observeAbsence(
  record: RunRecord,
  streamId: string,
  message: string,
  {
    status,
    stated_entries = null,
    missing_entries = null,
  }: { status: string; stated_entries?: number | null; missing_entries?: number | null },
) {
  return {
    uuid: uuidOf('absence', record.run_id, streamId),
    title: line(streamId),
    description: paragraph(message),
    props: toProps({ status, 'stated-entries': stated_entries, 'missing-entries': missing_entries }),
    methods: ['TEST'],
    ...(status === 'excluded' ? {} : { types: ['finding'] }),
    origins: originsOf(record),
    subjects: [subjectOf(record, streamId)],
    collected: record.finished_at,
  };
}

function originsOf({ tool }: RunRecord) {
  return [{ actors: [{ type: 'tool', 'actor-uuid': toolUuid(tool) }] }];
}

function subjectOf(record: RunRecord, streamId: string) {
  return { 'subject-uuid': streamUuid(record, streamId), type: 'resource', title: line(streamId) };
}
