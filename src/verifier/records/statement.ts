import { z } from 'zod';
import { ARCHIVE_VERSION } from '../../core/formats.ts';
import { type Rows, RowsBuilder } from '../../core/rows/rows.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { sha256Schema } from '../model/schemas.ts';
import { type Signed, toSigned } from '../signature/envelope.ts';
import { runRecordKey } from './keys.ts';
import type { RunRecord } from './record.ts';
import { recordPieces } from './record-bytes.ts';

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
/** The statement's members, and of its subjects each. */
const LEVELS = 2;
const PREDICATE_TYPE = `urn:evidence-exporter:run:${ARCHIVE_VERSION}`;

/** An in-toto Statement v1 (in-toto/attestation, spec/v1/statement.md) as we write it, as far as readers compare it. */
export const statementSchema = z.looseObject({
  subject: z.array(z.strictObject({ name: z.string(), digest: z.strictObject({ sha256: sha256Schema }) })),
});
type Subject = z.infer<typeof statementSchema>['subject'][number];

export const STATEMENT: RecordFormat<z.infer<typeof statementSchema>> = { schema: statementSchema, maxBytes: 2 ** 30 };

/**
 * The signed statement about a run: its files by their digests, and its result. It follows from the run's record
 * alone, byte for byte, so a reader who has the record knows what the statement has to be.
 *
 * @param sha256 of the record, run.json, as it is stored.
 */
export function toStatement(record: RunRecord, sha256: string): Signed {
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: subjectsOf(record, sha256),
    predicateType: PREDICATE_TYPE,
    predicate: {
      run_id: record.run_id,
      outcome: record.outcome,
      exit_code: record.exit_code,
      period: record.period,
      source: record.source,
      tool: record.tool,
      finished_at: record.finished_at,
    },
  };
  let bytes = 0;
  for (const piece of recordPieces(statement, LEVELS)) bytes += Buffer.byteLength(piece);
  return toSigned(PAYLOAD_TYPE, bytes, recordPieces(statement, LEVELS), 'utf8');
}

/**
 * Returns the files of a run that auditors get, by their digests, sorted by their keys. The streams' records are not
 * among them: the run's record has their digests, and the statement, which is signed in memory, is half as large.
 */
function subjectsOf(record: RunRecord, sha256: string): Rows<Subject> {
  const subjects = new RowsBuilder<Subject>();
  const add = (file: { key: string; sha256: string }) =>
    subjects.push({ name: file.key, digest: { sha256: file.sha256 } });
  add({ key: runRecordKey(record.run_id), sha256 });
  for (const { bundle } of record.streams) add(bundle);
  const supplements = [record.supplements?.object ?? []].flat();
  for (const files of [supplements, record.left_over, record.documents]) for (const file of files) add(file);
  return subjects.finishSorted(({ name }) => name);
}
