import { CLAIMS } from '../claims/claim.ts';
import type { Reconciliation, RunRecord, RunStream } from '../ledger/record.ts';

/** How a stream is counted in the reconciliation; `vanished` ones are not listed any more, so they are counted nowhere. */
type Class = Exclude<keyof Reconciliation, 'listed'> | 'vanished';

const COLUMNS = [
  'run_id',
  'class',
  'stream_id',
  'status',
  'entries',
  'first_sequence',
  'last_sequence',
  'head_hash',
  ...CLAIMS,
  'findings',
  'package_id',
  'bundle_key',
  'bundle_bytes',
  'bundle_sha256',
  'bundle_identity',
  'reason',
] as const;
type Row = Partial<Record<(typeof COLUMNS)[number], string | number | null>>;

/**
 * `index.csv`: a row for each stream that was listed, whatever became of it, and for each that is missed. RFC 4180,
 * UTF-8; a piece a line.
 */
export function* renderIndex(record: RunRecord): Generator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for (const row of rowsOf(record)) {
    const fields = COLUMNS.map((name) => (name === 'run_id' ? toField(record.run_id) : toField(row[name])));
    yield `${fields.join(',')}\r\n`;
  }
}

function* rowsOf({ streams, failed, excluded, vanished }: RunRecord): Generator<Row> {
  for (const stream of streams) yield toRow(stream);
  for (const { stream_id, reason } of failed) yield rowOf('failed', stream_id, reason);
  for (const { stream_id, reason } of excluded) yield rowOf('excluded', stream_id, reason);
  for (const { stream_id, finding } of vanished) yield rowOf('vanished', stream_id, finding.message);
}

function toRow(stream: RunStream): Row {
  const { claims, bundle, missing } = stream;
  return {
    ...rowOf(classOf(stream), stream.stream_id, missing.map(({ form, reason }) => `${form}: ${reason}`).join('; ')),
    status: stream.status,
    entries: stream.entries,
    first_sequence: stream.first_sequence,
    last_sequence: stream.last_sequence,
    head_hash: stream.head_hash,
    ...Object.fromEntries(CLAIMS.map((name) => [name, claims[name].state])),
    findings: stream.findings_count,
    package_id: stream.package_id,
    bundle_key: bundle.key,
    bundle_bytes: bundle.bytes,
    bundle_sha256: bundle.sha256,
    bundle_identity: bundle.identity,
  };
}

function classOf({ partial, status }: RunStream): Class {
  if (partial || status === 'incomplete') return 'partial';
  return status === 'empty' ? 'empty' : 'exported';
}

function rowOf(name: Class, stream_id: string, reason: string): Row {
  return { class: name, stream_id, reason };
}

/**
 * A spreadsheet takes text that begins like this for a formula, which could run a command or send the sheet away. An
 * apostrophe before it makes it text (OWASP, CSV Injection); the signs of East Asian width mean the same to some.
 */
const FORMULA = /^[\s\p{C}]*[=+\-@＝＋－＠]|^[\t\r\n]/u;

/** RFC 4180 section 2. */
function toField(value: string | number | null | undefined): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]|^'/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
