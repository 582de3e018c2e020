import { z } from 'zod';
import { FORMATS } from '../../core/formats.ts';
import type { ReadableArchive } from '../archive/archive.ts';
import { CLAIMS } from '../claims/claim.ts';
import { operatorSchema, periodSchema } from '../claims/schemas.ts';
import { type RecordFormat, runIdSchema, sha256Schema, timeSchema } from '../model/schemas.ts';
import { askedKey } from './keys.ts';
import { readRecord } from './record-bytes.ts';

/** The parts of a service to be exported, for whom, and what must be proved of them. */
export const scopeSchema = z.strictObject({
  /** Globs over stream ids; none means all. */
  streams: z.array(z.string()),
  exclude: z.array(z.string()),
  request: z.string().nullable(),
  requested_by: z.string().nullable(),
  required_claims: z.array(z.enum(CLAIMS)),
  /** Roles and members of entries that digests need not cover. */
  accepted_unhashed: z.array(z.string()),
  /** The source that completeness is compared with. */
  completeness: z.enum(['listing', 'record', 'off']),
});

/** The source of evidence, and the contract by which it is read. */
export const sourceSchema = z.strictObject({
  /** Address of the service, without what is secret in it. */
  audit_url: z.string(),
  contract: z.string(),
  /** Null for the default contract. */
  contract_sha256: sha256Schema.nullable(),
});

/** The question that a run answers. Two exports are the same run only where they ask the same. */
export interface Question {
  run_id: string;
  source: Pick<z.infer<typeof sourceSchema>, 'audit_url' | 'contract_sha256'>;
  period: z.infer<typeof periodSchema>;
  scope: z.infer<typeof scopeSchema>;
}

/** Aspects of a question in words, as they are compared: the order in which flags are given says nothing. */
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

/** Writes the streams that a scope selects as one text, whatever the order of its globs; empty for all streams. */
export function filterOf({ streams, exclude }: Pick<Question['scope'], 'streams' | 'exclude'>): string {
  if (streams.length + exclude.length === 0) return '';
  const without = exclude.length === 0 ? [] : ['without', ...sorted(exclude)];
  return JSON.stringify([sorted(streams), without]);
}

/** True if two runs have the same time and streams, and the same must be proved of both. */
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

/** The same text for the same question. */
export function textOf(question: Question): string {
  return JSON.stringify([question.run_id, ...aspectsOf(question)]);
}

function list(values: readonly string[], none: string): string {
  return values.length === 0 ? none : sorted(values).join(', ');
}

function sorted(values: readonly string[]): string[] {
  return [...new Set(values)].sort();
}

/** `runs/<run-id>/asked.json`: what the run is asked for, written before anything else of it. */
export const askedSchema = z.strictObject({
  format: z.literal(FORMATS.asked),
  run_id: runIdSchema,
  source: sourceSchema,
  period: periodSchema,
  scope: scopeSchema,
  begun_at: timeSchema,
  /** By the service's clock; null where it did not say what time it was. */
  begun_at_by_service: timeSchema.nullable(),
  /** Random, and in the binding of all that the run leaves: nothing of another run, or of another day, is taken for its own. */
  nonce: sha256Schema,
  /** The operator who began it. */
  operator: operatorSchema,
  /** See `export/binding.ts`. */
  binding: sha256Schema.nullable(),
});
export type Asked = z.infer<typeof askedSchema>;

export const ASKED: RecordFormat<Asked> = { schema: askedSchema, maxBytes: 2 ** 24 };

/** Returns the question of a run that was begun, with the bytes that state it. @throws EvidenceError `unreadable`. */
export async function readAsked(
  archive: Pick<ReadableArchive, 'readBytes'>,
  runId: string,
): Promise<{ asked: Asked; bytes: Uint8Array }> {
  const key = askedKey(runId);
  const bytes = await archive.readBytes(key, ASKED.maxBytes);
  return { asked: readRecord(ASKED, bytes, key), bytes };
}
