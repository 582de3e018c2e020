import type { RunRecord } from '../../ledger/record.ts';
import type { Texts } from './texts.ts';
import { fill, grouped, nameOf, plural } from './words.ts';

/** A labelled fact; `mono` for digests, paths and ids. */
export interface Fact {
  label: string;
  lines: string[];
  form: 'text' | 'mono';
}

/** The IPE statement: where the information comes from, how it was got, and that it is all of it. */
export function toIpeFacts(record: RunRecord, texts: Texts): Fact[] {
  const { source, scope, tool, operator, period, streams, warnings } = record;
  const text = (label: string, ...lines: string[]): Fact => ({ label, lines, form: 'text' });
  return [
    text(
      'Source system',
      `Audit service at ${source.audit_url}`,
      `read by the contract “${source.contract}”${source.contract_sha256 === null ? '' : `, SHA-256 ${source.contract_sha256}`}`,
    ),
    {
      label: 'Requests',
      lines: source.requests.map(lineOf),
      form: 'mono',
    },
    text('Period and time zone', `${describePeriod(period)}. Times are in UTC.`, ...warnings),
    text('Extraction', `${record.started_at} to ${record.finished_at}`),
    text(
      'Tool',
      `${tool.name} ${tool.version}, ${tool.commit === null ? 'installed package' : `commit ${tool.commit}`}`,
    ),
    text('Operator', nameOf(operator)),
    text(
      'Requested by',
      scope.requested_by ?? 'not stated',
      ...(scope.request === null ? [] : [`request ${scope.request}`]),
    ),
    text(
      'Scope',
      scope.streams.length === 0
        ? 'all streams that the service lists'
        : `streams that match ${scope.streams.join(', ')}`,
      ...(scope.exclude.length === 0 ? [] : [`without those that match ${scope.exclude.join(', ')}`]),
    ),
    text('Population', ...populationOf(record)),
    text('Completeness', ...completenessOf(streams)),
    text('Sequences and heads', texts.ipe.heads),
    text('Integrity', texts.ipe.not_edited),
    ...encryptionOf(record, texts).map((line) => text('Encryption', line)),
    text('Signature', ...signatureOf(record, texts)),
  ];
}

/** Nothing where nothing is encrypted. */
function encryptionOf({ streams }: RunRecord, { ipe }: Texts): string[] {
  const encrypted = streams.flatMap(({ bundle }) => (bundle.encrypted === undefined ? [] : [bundle.encrypted]));
  if (encrypted.length === 0) return [];
  const recipients = [...new Set(encrypted.flatMap((bundle) => bundle.recipients))];
  return [fill(ipe.encrypted, { bundles: plural(encrypted.length, 'bundle'), recipients: recipients.join(', ') })];
}

function signatureOf({ signed, timestamp_authority: authority }: RunRecord, { ipe }: Texts): string[] {
  const stamped = authority === null ? [] : [fill(ipe.stamped, { authority })];
  return [signed ? ipe.signed : ipe.unsigned, ...stamped];
}

/** A query behind its path, a body after a space. */
function lineOf({ method, path, parameters }: RunRecord['source']['requests'][number]): string {
  if (parameters.length === 0) return `${method} ${path}`;
  return method === 'GET' ? `GET ${path}?${parameters.join('&')}` : `${method} ${path} ${parameters.join(' ')}`;
}

export function describePeriod({ from, to }: RunRecord['period']): string {
  if (from === null && to === null) return 'all time';
  return `${from ?? 'the beginning'} (inclusive) to ${to === null ? 'the time of the export' : `${to} (exclusive)`}`;
}

function populationOf({ reconciliation, streams }: RunRecord): string[] {
  const { listed, exported, partial, failed, empty, excluded } = reconciliation;
  const entries = streams.reduce((sum, stream) => sum + stream.entries, 0);
  const terms = Object.entries({ exported, partial, failed, empty, excluded });
  return [
    `${plural(listed, 'stream')} listed = ${terms.map(([name, count]) => `${grouped(count)} ${name}`).join(' + ')}`,
    `${plural(entries, 'entry')} in all`,
  ];
}

/** By what each stream was found to be whole. */
function completenessOf(streams: RunRecord['streams']): string[] {
  const counts = new Map<string, number>();
  for (const { claims } of streams) {
    const { state, basis } = claims.completeness;
    const words = state === 'proved' && basis !== undefined ? `proved: ${withoutNumbers(basis)}` : state;
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  if (counts.size === 0) return ['no stream was exported'];
  return [...counts].map(([words, count]) => `${plural(count, 'stream')} ${words}`).slice(0, 6);
}

function withoutNumbers(basis: string): string {
  return basis.replace(/\d+ entries/g, 'entries');
}
