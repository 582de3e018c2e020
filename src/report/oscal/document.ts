import { CLAIMS } from '../../claims/claim.ts';
import { sha256 } from '../../encoding/digest.ts';
import { type RunRecord, type RunStream, recordPieces } from '../../ledger/record.ts';
import { toOutcome } from '../view/outcome.ts';
import type { Texts } from '../view/texts.ts';
import { uuidOf } from './uuid.ts';

const OSCAL_VERSION = '1.2.1';
/** Down to each of the observations, which are made one after the other. */
const LEVELS = 5;
/** What is observed where no control is named: the evidence itself. */
const NO_CONTROL = 'evidence-integrity';

/**
 * `assessment-results.json`: the run as OSCAL assessment results. Each stream is an observation. There are no OSCAL
 * findings, since each of these must say whether a control is satisfied, and that is for the assessor. In pieces.
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
        resources: [
          {
            uuid: plan,
            title: 'What was to be exported and checked',
            description: paragraph(
              `The scope of the run, its required claims and its period, as run.json states them.`,
            ),
            rlinks: [{ href: 'run.json', 'media-type': 'application/json' }],
          },
        ],
      },
    },
  };
  return recordPieces(document, LEVELS);
}

/** Of what the results are made from: a stream stands for its record, whose digest says all of it. */
function versionOf({ documents: _documents, streams, ...rest }: RunRecord): string {
  const digests = streams.map(({ record, bundle }) => [record?.sha256, bundle.sha256]);
  return sha256(Buffer.from(JSON.stringify([rest, digests])));
}

/** Of the names of properties that are ours. */
const NAMESPACE = 'https://evidence-exporter.invalid/ns/oscal';

function toResult(record: RunRecord, texts: Texts, version: string) {
  const { run_id, started_at, finished_at, reconciliation } = record;
  const { words, sentences } = toOutcome(record, true, texts);
  const isEmpty = record.streams.length + record.failed.length + record.vanished.length === 0;
  return {
    uuid: uuidOf('result', run_id, version),
    title: line(words.join(', ')),
    description: paragraph(sentences.join(' ')),
    start: started_at,
    end: finished_at,
    props: Object.entries(reconciliation).map(([name, count]) => ({
      name: `streams-${name}`,
      ns: NAMESPACE,
      value: String(count),
    })),
    'reviewed-controls': reviewedControls(record),
    ...(isEmpty ? {} : { observations: observe(record) }),
  };
}

function* observe(record: RunRecord) {
  for (const stream of record.streams) yield observeStream(record, stream);
  for (const { stream_id, reason } of record.failed) yield observeAbsence(record, stream_id, `Not exported: ${reason}`);
  for (const { stream_id, finding } of record.vanished) yield observeAbsence(record, stream_id, finding.message);
}

function reviewedControls({ report }: RunRecord) {
  const selections = report.controls.map(({ framework, controls }) => ({
    description: paragraph(
      `${framework}: controls that the evidence speaks to. Whether they are satisfied is not stated.`,
    ),
    'include-controls': controls.map(({ id }) => ({ 'control-id': toToken(id) })),
  }));
  if (selections.length > 0) return { 'control-selections': selections };
  const description = 'No framework was named: the integrity of the evidence itself was checked.';
  return { 'control-selections': [{ description, 'include-controls': [{ 'control-id': NO_CONTROL }] }] };
}

function observeStream(record: RunRecord, stream: RunStream) {
  const { stream_id, status, partial, entries, claims, bundle, findings } = stream;
  const told = findings.slice(0, 20).map(({ code, message }) => `- ${code}: ${paragraph(message)}`);
  const state = partial ? `${status}, PARTIAL` : status;
  return {
    uuid: uuidOf('observation', record.run_id, stream_id, bundle.identity),
    title: line(stream_id),
    description: [`Audit evidence of the stream: ${state}; ${entries} entries.`, ...told].join('\n'),
    props: [
      { name: 'status', ns: NAMESPACE, value: status },
      ...CLAIMS.map((name) => ({ name: `claim-${name}`, ns: NAMESPACE, value: claims[name].state })),
      { name: 'bundle-sha256', ns: NAMESPACE, value: bundle.sha256 },
    ],
    methods: ['TEST'],
    ...(status === 'refuted' ? { types: ['finding'] } : {}),
    subjects: [subjectOf(record, stream_id)],
    'relevant-evidence': [
      {
        // Keys are relative to the archive, this document to the run.
        href: `../../${bundle.key.split('/').map(encodeURIComponent).join('/')}`,
        description: paragraph(`The bundle, SHA-256 ${bundle.sha256}`),
      },
    ],
    collected: record.finished_at,
  };
}

function observeAbsence(record: RunRecord, streamId: string, message: string) {
  return {
    uuid: uuidOf('absence', record.run_id, streamId),
    title: line(streamId),
    description: paragraph(message),
    methods: ['TEST'],
    types: ['finding'],
    subjects: [subjectOf(record, streamId)],
    collected: record.finished_at,
  };
}

function subjectOf({ source }: RunRecord, streamId: string) {
  return { 'subject-uuid': uuidOf('stream', source.audit_url, streamId), type: 'resource', title: line(streamId) };
}

/** OSCAL's single line: no white space at its ends, none but spaces within, not empty. */
function line(text: string): string {
  const plain = text
    .toWellFormed()
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return plain === '' ? '–' : plain;
}

/** Text from outside must not become a list, a heading or a link of ours. */
function paragraph(text: string): string {
  return line(text).replace(/[\\`*_{}[\]<>#|]/g, '\\$&');
}

/** OSCAL's token: begins with a letter. */
function toToken(id: string): string {
  const token = id.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/-+$/, '');
  return /^[\p{L}_]/u.test(token) ? token : `c-${token}`;
}
