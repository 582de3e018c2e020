import { z } from 'zod';
import { ARCHIVE_VERSION } from '../../core/formats.ts';
import type { RecordFormat } from '../model/record-format.ts';
import { sha256Schema } from '../model/schemas.ts';
import type { Signed } from '../signature/envelope.ts';
import { runRecordKey } from './keys.ts';
import type { RunRecord } from './record.ts';
import { toRecordBytes } from './record-bytes.ts';

const PAYLOAD_TYPE = 'application/vnd.in-toto+json';
const PREDICATE_TYPE = `urn:evidence-exporter:run:${ARCHIVE_VERSION}`;

/** An in-toto Statement v1 (in-toto/attestation, spec/v1/statement.md) as we write it, as far as readers compare it. */
export const statementSchema = z.looseObject({
  subject: z.array(z.strictObject({ name: z.string(), digest: z.strictObject({ sha256: sha256Schema }) })),
});
export const STATEMENT: RecordFormat<z.infer<typeof statementSchema>> = { schema: statementSchema, maxBytes: 2 ** 30 };

/**
 * What is signed of a run: all its files by their digests, and what came of it. It follows from the run's record alone,
 * byte for byte, so a reader who has the record knows what the statement has to be.
 *
 * @param sha256 of the record, run.json, as it is stored.
 */
export function toStatement(record: RunRecord, sha256: string): Signed {
  const files = record.streams.flatMap(({ bundle, record: stored }) => (stored === null ? [bundle] : [bundle, stored]));
  const supplements = [record.supplements?.object ?? []].flat();
  const digests = new Map([
    [runRecordKey(record.run_id), sha256],
    ...[...files, ...supplements, ...record.left_over, ...record.documents].map(
      (file) => [file.key, file.sha256] as const,
    ),
  ]);
  const statement = {
    _type: 'https://in-toto.io/Statement/v1',
    subject: [...digests]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, digest]) => ({ name, digest: { sha256: digest } })),
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
  return { payloadType: PAYLOAD_TYPE, payload: toRecordBytes(statement) };
}
