import { grouped, plural } from '../../../core/plurals.ts';
import { describePeriod } from '../../../verifier/bundle/period.ts';
import { latestOf } from '../../../verifier/records/coverage.ts';
import type { RunRecord } from '../../../verifier/records/record.ts';
import { toAnchors } from './anchors.ts';
import { toConclusion } from './conclusion.ts';
import { edgesOf, toCutoff } from './cutoff.ts';
import { toPopulation } from './population.ts';
import { asSentence, fill, nameOf } from './sentences.ts';
import type { Texts } from './texts.ts';

/** Labeled fact; `mono` for digests, paths and ids. */
export interface Fact {
  label: string;
  lines: string[];
  form: 'text' | 'mono';
}

/** Returns the IPE statement: source of the information, method of extraction, and evidence of its completeness. */
export function toIpeFacts(record: RunRecord, texts: Texts): Fact[] {
  const { source, tool, period, streams, warnings } = record;
  const text = (label: string, ...lines: string[]): Fact => ({ label, lines, form: 'text' });
  const end = period.to === null ? latestOf(record) : null;
  return [
    text(
      'Source system',
      `Audit service at ${source.audit_url}`,
      ...(source.moved_from === null
        ? []
        : [`before this run at ${source.moved_from}; the exporter stated that it moved (--service-moved)`]),
      `read with the contract “${source.contract}”${source.contract_sha256 === null ? '' : `, SHA-256 ${source.contract_sha256}`}`,
    ),
    { label: 'Requests', lines: source.requests.map(lineOf), form: 'mono' },
    text(
      'Period and time zone',
      `${describePeriod(period, end)}. Times are in UTC.`,
      ...warnings.map(({ message }) => asSentence(message)),
    ),
    text('Cut-off', ...toCutoff(record, texts)),
    text('Extraction', ...extractionOf(record, texts)),
    text(
      'Tool',
      `${tool.name} ${tool.version}, ${tool.commit === null ? 'installed package' : `commit ${tool.commit}`}`,
    ),
    ...peopleOf(record, texts),
    text('Scope', ...scopeOf(record)),
    text('Population', ...populationOf(record, texts)),
    text('Conclusion', ...toConclusion(record, texts)),
    text('Time-stamps', ...toAnchors(streams, texts)),
    text('Sequences and heads', texts.ipe.heads),
    text('Integrity', texts.ipe.not_edited),
    ...encryptionOf(record, texts).map((line) => text('Encryption', line)),
    text('Signature', ...signatureOf(record, texts)),
  ];
}

/** Describes when the evidence was received, over all attempts at the run. */
function extractionOf({ streams, attempts }: RunRecord, { ipe }: Texts): string[] {
  const from = edgesOf(streams, ({ collected }) => collected.requested_at)?.first;
  const to = edgesOf(streams, ({ collected }) => collected.received_at)?.last;
  if (from === undefined || to === undefined) return [ipe.not_extracted];
  const tries = attempts.length > 1 ? [fill(ipe.attempts, { attempts: grouped(attempts.length) })] : [];
  return [fill(ipe.extracted, { from, to }), ...tries];
}

function peopleOf({ report, operator, scope }: RunRecord, { ipe }: Texts): Fact[] {
  const text = (label: string, ...lines: string[]): Fact => ({ label, lines, form: 'text' });
  return [
    text('Prepared by', report.prepared_by ?? ipe.not_prepared),
    text('Operator', nameOf(operator)),
    text(
      'Requested by',
      scope.requested_by ?? 'not stated',
      ...(scope.request === null ? [] : [`request ${scope.request}`]),
    ),
  ];
}

function scopeOf({ scope }: RunRecord): string[] {
  return [
    scope.streams.length === 0
      ? 'all streams that the service lists for the API key'
      : `streams that match ${scope.streams.join(', ')}`,
    ...(scope.exclude.length === 0 ? [] : [`without those that match ${scope.exclude.join(', ')}`]),
  ];
}

/** Empty if nothing is encrypted. */
function encryptionOf({ streams }: RunRecord, { ipe }: Texts): string[] {
  const recipients = new Set<string>();
  let encrypted = 0;
  for (const { bundle } of streams) {
    if (bundle.encrypted === undefined) continue;
    encrypted++;
    for (const recipient of bundle.encrypted.recipients) recipients.add(recipient);
  }
  if (encrypted === 0) return [];
  return [fill(ipe.encrypted, { bundles: plural(encrypted, 'bundle'), recipients: [...recipients].join(', ') })];
}

function signatureOf({ signed, timestamp_authority: authority }: RunRecord, { ipe }: Texts): string[] {
  const stamped = authority === null ? [] : [fill(ipe.stamped, { authority })];
  return [signed ? ipe.signed : ipe.unsigned, ...stamped];
}

/**
 * Formats a request: a query after the path, a body after a space, and a note if the request is only sometimes sent.
 */
function lineOf({ purpose, method, path, parameters }: RunRecord['source']['requests'][number]): string {
  const [between, separator] = method === 'GET' ? ['?', '&'] : [' ', ' '];
  const asked = parameters.length === 0 ? '' : `${between}${parameters.join(separator)}`;
  return `${method} ${path}${asked}${purpose === 'await_package' ? ' (while the package is not ready)' : ''}`;
}

function populationOf(record: RunRecord, texts: Texts): string[] {
  const { listed, exported, partial, failed, empty, excluded } = record.reconciliation;
  const terms = Object.entries({ exported, partial, failed, empty, excluded });
  return [
    `${plural(listed, 'stream')} listed = ${terms.map(([name, count]) => `${grouped(count)} ${name}`).join(' + ')}`,
    ...toPopulation(record, texts).sentences,
  ];
}
