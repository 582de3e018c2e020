import type { z } from 'zod';
import { canonicalize, type Json } from '../encoding/canonical.ts';
import { hmacSha256, sha256 } from '../encoding/digest.ts';
import { parseExactJson } from '../encoding/json.ts';
import { EvidenceError } from '../errors.ts';
import type { Checkpoint, Content, Contract, Entry, PackageFacts, SummaryFacts } from './contract.ts';
import { GENESIS, packageHeadSchema, summarySchema } from './default.ts';

/** The default wire contract of the audit service (`default.ts`) read into our entities. */
export const defaultContract: Contract = {
  name: 'default',
  recipe: 'hex(sha-256(jcs(entry - [hash, seal]))), RFC 8785',
  genesis: GENESIS,
  entriesMember: 'entries',
  readEntry,
  readPackage,
  readSummary,
  sealOf: hmacSha256,
};

const DIGEST = /^[0-9a-f]{64}$/;

function readEntry(bytes: Uint8Array, members: number): Entry {
  const { value, ambiguity } = parseExactJson(bytes, members);
  const fields = toObject(value, 'an entry');
  const sequence = fields['sequence'];
  if (typeof sequence !== 'number' || !Number.isSafeInteger(sequence) || sequence < 1)
    throw drift('an entry', 'sequence', 'a positive integer');
  const seal = fields['seal'];
  const keyId = fields['seal_key_id'];
  return {
    streamId: text(fields, 'stream_id'),
    sequence,
    entryId: text(fields, 'entry_id'),
    timestamp: text(fields, 'timestamp'),
    previous: digest(fields, 'prev_hash'),
    digest: digest(fields, 'hash'),
    content: contentOf(value, ambiguity),
    seal: typeof seal === 'string' && typeof keyId === 'string' ? { keyId, value: seal } : null,
  };
}

function contentOf(value: Json, ambiguity: string | null): Content {
  if (ambiguity !== null) return { state: 'ambiguous', reason: ambiguity };
  return { state: 'computed', digest: sha256(canonicalize(value, ['hash', 'seal'])) };
}

/** A package whose `stream` is null holds the whole account. */
const partialHead = packageHeadSchema.extend({ stream: packageHeadSchema.shape.stream.nullable() }).partial();

function readPackage(document: Json): PackageFacts {
  const read = partialHead.safeParse(document);
  if (!read.success) throw notThisContract('the package', read.error);
  const head = read.data;
  return {
    scope: head.stream === null ? 'account' : 'stream',
    packageId: head.package_id ?? null,
    streamId: head.stream?.stream_id ?? null,
    entryCount: head.entry_count ?? null,
    firstSequence: head.first_sequence ?? null,
    lastSequence: head.last_sequence ?? null,
    headDigest: head.head_hash ?? null,
    generatedAt: head.generated_at ?? null,
    checkpoints: (head.checkpoints ?? []).map(
      (checkpoint): Checkpoint => ({
        streamId: checkpoint.stream_id,
        sequence: checkpoint.sequence,
        digest: checkpoint.hash,
        token: checkpoint.anchor.token === null ? null : Buffer.from(checkpoint.anchor.token, 'base64'),
      }),
    ),
  };
}

const summaryFacts = summarySchema.pick({ package_id: true, stream_id: true, entry_count: true, head_hash: true });

function readSummary(bytes: Uint8Array): SummaryFacts {
  const { value, ambiguity } = parseExactJson(bytes);
  if (ambiguity !== null) throw new EvidenceError('unreadable', `the summary is ambiguous: ${ambiguity}`);
  const read = summaryFacts.safeParse(value);
  if (!read.success) throw notThisContract('the summary', read.error);
  return {
    packageId: read.data.package_id,
    streamId: read.data.stream_id,
    entryCount: read.data.entry_count,
    headDigest: read.data.head_hash,
  };
}

function toObject(value: Json, what: string): { [name: string]: Json } {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new EvidenceError('contract', `${what} is not a JSON object`);
  return value;
}

function text(fields: { [name: string]: Json }, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw drift('an entry', name, 'a string');
  return value;
}

function digest(fields: { [name: string]: Json }, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string' || !DIGEST.test(value)) throw drift('an entry', name, '64 lower-case hex digits');
  return value;
}

function drift(what: string, field: string, wanted: string): EvidenceError {
  return new EvidenceError('contract', `the field "${field}" of ${what} is not ${wanted}`);
}

function notThisContract(what: string, error: z.ZodError): EvidenceError {
  const issue = error.issues[0];
  const where =
    issue === undefined || issue.path.length === 0 ? what : `the field "${issue.path.join('.')}" of ${what}`;
  return new EvidenceError('contract', `${where} does not fit the default contract: ${issue?.message ?? 'unknown'}`);
}
