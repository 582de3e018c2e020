import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { CLAIMS } from '../claims/claim.ts';
import { operatorSchema, periodSchema } from '../claims/schemas.ts';
import { type RecordFormat, runIdSchema, sha256Schema, timeSchema } from '../model/schemas.ts';
import { askedKey } from './keys.ts';
import { readRecord } from './record-bytes.ts';

/** Streams to export, the request that they are for, and the claims that must be proved. */
export const scopeSchema = z.strictObject({
  /** Globs over stream ids; empty for all streams. */
  streams: z.array(z.string()),
  exclude: z.array(z.string()),
  request: z.string().nullable(),
  requested_by: z.string().nullable(),
  required_claims: z.array(z.enum(CLAIMS)),
  /** Roles and members of entries that digests need not cover. */
  accepted_unhashed: z.array(z.string()),
  /** Source with which completeness is compared. */
  completeness: z.enum(['listing', 'record', 'off']),
});

/** Source of evidence, and the contract by which it is read. */
export const sourceSchema = z.strictObject({
  /** Address of the service, without secrets. */
  audit_url: z.string(),
  contract: z.string(),
  /** Null for the default contract. */
  contract_sha256: sha256Schema.nullable(),
});

/** Question that a run answers. Two exports belong to the same run only if they ask the same. */
export interface Question {
  run_id: string;
  source: Pick<z.infer<typeof sourceSchema>, 'audit_url' | 'contract_sha256'>;
  period: z.infer<typeof periodSchema>;
  scope: z.infer<typeof scopeSchema>;
}

/** Returns the aspects of a question in words, for comparison. The order of flags makes no difference. */
function aspectsOf({ source, period, scope }: Question): [name: string, value: string][] {
  return [
    ['audit service', source.audit_url],
    ['contract', source.contract_sha256 === null ? 'the default one' : `file of SHA-256 ${source.contract_sha256}`],
    ['period', `${period.from ?? 'the beginning'} to ${period.to ?? 'the export'}`],
    ['streams', list(scope.streams, 'all')],
    ['excluded streams', list(scope.exclude, 'none')],
    ['request', scope.request ?? 'none'],
    ['requested by', scope.requested_by ?? 'nobody named'],
    ['required claims', list(scope.required_claims, 'none')],
    ['accepted as unhashed', list(scope.accepted_unhashed, 'nothing')],
    ['completeness compared with', scope.completeness],
  ];
}

/** Returns the differences between two questions, as `was → is`. */
export function differencesOf(was: Question, is: Question): string[] {
  const asked = new Map(aspectsOf(is));
  return aspectsOf(was).flatMap(([name, value]) =>
    asked.get(name) === value ? [] : [`${name}: ${value} → ${asked.get(name)}`],
  );
}

/** Returns the streams that a scope selects as one text, whatever the order of its globs; empty for all streams. */
export function filterOf({ streams, exclude }: Pick<Question['scope'], 'streams' | 'exclude'>): string {
  if (streams.length + exclude.length === 0) return '';
  const without = exclude.length === 0 ? [] : ['without', ...sorted(exclude)];
  return JSON.stringify([sorted(streams), without]);
}

/** Reports whether two runs have the same period, streams and required proofs. */
export function isSameScope(
  one: Pick<Question, 'period' | 'scope'>,
  other: Pick<Question, 'period' | 'scope'>,
): boolean {
  const [a, b] = [one, other].map(({ period: { from, to }, scope }) => {
    const { required_claims: required, accepted_unhashed: accepted, completeness } = scope;
    return JSON.stringify([from, to, filterOf(scope), sorted(required), sorted(accepted), completeness]);
  });
  return a === b;
}

/** Returns the same text for the same question. */
export function textOf(question: Question): string {
  return JSON.stringify([question.run_id, ...aspectsOf(question)]);
}

function list(values: readonly string[], none: string): string {
  return values.length === 0 ? none : sorted(values).join(', ');
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}

/** `runs/<run-id>/asked.json`: question of the run, written before anything else of it. */
export const askedSchema = z.strictObject({
  format: z.literal(FORMATS.asked),
  run_id: runIdSchema,
  source: sourceSchema,
  period: periodSchema,
  scope: scopeSchema,
  begun_at: timeSchema,
  /** Time by the service's clock; null if the service did not state it. */
  begun_at_by_service: timeSchema.nullable(),
  /**
   * Random value in the binding of everything that the run leaves, so that no object of another run is taken for its
   * own.
   */
  nonce: sha256Schema,
  /** Operator who began the run. */
  operator: operatorSchema,
  /** See `export/binding.ts`. */
  binding: sha256Schema.nullable(),
});
export type Asked = z.infer<typeof askedSchema>;

export const ASKED: RecordFormat<Asked> = { schema: askedSchema, maxBytes: 2 ** 24 };

/** Reads the question of a run, with the bytes that state it. @throws EvidenceError `unreadable`. */
export async function readAsked(
  archive: Pick<ReadableArchive, 'readBytes'>,
  runId: string,
): Promise<{ asked: Asked; bytes: Uint8Array }> {
  const key = askedKey(runId);
  const bytes = await archive.readBytes(key, ASKED.maxBytes);
  return { asked: readRecord(ASKED, bytes, key), bytes };
}
