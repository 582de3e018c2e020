import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { z } from 'zod';
import { sha256 } from '../../../src/core/digest.ts';
import { ARCHIVE_VERSION } from '../../../src/core/formats.ts';
import { packageFile } from '../../../src/core/install-paths.ts';
import {
  serviceSchema,
  supplementTransferLogSchema,
  transferLogSchema,
  verificationSchema,
} from '../../../src/verifier/bundle/documents.ts';
import { OPEN_CODES } from '../../../src/verifier/claims/claim.ts';
import {
  collectedSchema,
  headSchema,
  operatorSchema,
  periodSchema,
  restartSchema,
  seenHeadSchema,
  serviceStatementSchema,
  spanEntriesSchema,
  spanSchema,
  streamStatementSchema,
} from '../../../src/verifier/claims/schemas.ts';
import { findingSchema, verdictSchema } from '../../../src/verifier/claims/verdict-schema.ts';
import { ledgerEntrySchema } from '../../../src/verifier/ledger/ledger.ts';
import { archiveSchema } from '../../../src/verifier/ledger/service.ts';
import { descriptionSchema } from '../../../src/verifier/profile/description.ts';
import { namedEntrySchema, recordsSchema } from '../../../src/verifier/profile/supplements.ts';
import { attemptSchema } from '../../../src/verifier/records/attempt.ts';
import { controlsSchema } from '../../../src/verifier/records/controls.ts';
import { coverageSchema } from '../../../src/verifier/records/coverage.ts';
import {
  holdRecordSchema,
  holdResultSchema,
  restampingSchema,
  shareSchema,
} from '../../../src/verifier/records/hold-log.ts';
import { askedSchema, scopeSchema, sourceSchema } from '../../../src/verifier/records/question.ts';
import {
  acceptanceSchema,
  documentSchema,
  earlierRunSchema,
  RUN_WARNING_CODES,
  reconciliationSchema,
  runRecordSchema,
  streamFailureSchema,
  streamRecordSchema,
  vanishedSchema,
} from '../../../src/verifier/records/record.ts';
import { runSupplementsSchema } from '../../../src/verifier/records/supplements.ts';
import { envelopeSchema } from '../../../src/verifier/signature/envelope.ts';

import {
  RECORD_OPEN_CODES,
  recordCountsSchema,
  recordStateSchema,
  serviceStateSchema,
  supplementFindingSchema,
  supplementsDocumentSchema,
} from '../../../src/verifier/supplements/document.ts';

const DOCUMENT = readFileSync(packageFile('templates/help/archive-format.md'), 'utf8');

/** A schema's definition in zod. */
interface Definition {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  out?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  items?: z.ZodType[];
  options?: z.ZodType[];
  shape?: Record<string, z.ZodType>;
}
const definitionOf = (schema: z.ZodType) => schema.def as unknown as Definition;
const inner = (schema: z.ZodType | undefined): z.ZodType => {
  if (schema === undefined) throw new TypeError('there is no schema');
  const { type, innerType, element, items, in: input, out } = definitionOf(schema);
  if (['nullable', 'optional', 'default'].includes(type)) return inner(innerType);
  if (type === 'array') return inner(element);
  if (type === 'tuple') return inner(items?.[0]);
  if (type === 'pipe') return inner(definitionOf(input as z.ZodType).type === 'transform' ? out : input);
  return schema;
};

const bundleSchema = inner(streamRecordSchema.shape.bundle);
const storedSchema = inner(runRecordSchema.shape.left_over);
const claimsSchema = inner(verdictSchema.shape.claims);
const heldSchema = inner(holdRecordSchema.shape.objects);
const pagingSchema = inner(descriptionSchema.shape.streams.shape.paging);

type Section = [heading: string, schema: z.ZodType, merged?: z.ZodType];

/** Schemas that other tables name without listing their members. */
const SHAPES: Section[] = [
  ['**period**', periodSchema],
  ['**operator**', operatorSchema],
  ['**head**', headSchema],
  ['**seen head**', seenHeadSchema],
  ['**stated stream**', streamStatementSchema],
  ['**stored**', storedSchema],
  ['**document**', documentSchema, storedSchema],
  ['**bundle**', bundleSchema, storedSchema],
  ['**claim**', inner(definitionOf(claimsSchema).shape?.['order'])],
  ['**claims**', claimsSchema],
  ['**finding**', findingSchema],
  ['**verdict**', verdictSchema],
  ['**collected**', collectedSchema],
  ['**service statement**', serviceStatementSchema, streamStatementSchema],
  ['**missing form**', inner(streamRecordSchema.shape.missing)],
  ['**span entries**', spanEntriesSchema],
  ['**span**', spanSchema],
  ['**restart**', restartSchema],
  ['**coverage**', coverageSchema],
  ['**earlier run**', earlierRunSchema, coverageSchema],
  ['**reconciliation**', reconciliationSchema],
  ['**vanished**', vanishedSchema],
  ['**failure**', streamFailureSchema],
  ['**controls**', controlsSchema],
  ['**source**', sourceSchema],
  ['**scope**', scopeSchema],
  ['**supplement service**', serviceStateSchema],
  ['**record counts**', recordCountsSchema],
  ['**supplement finding**', supplementFindingSchema],
  ['**supplements**', runSupplementsSchema],
  ['8.1 **paging**', pagingSchema],
  ['8.4 **records**', recordsSchema],
  ['8.5 **named entry**', namedEntrySchema],
];
/** Schemas that the document describes in a sentence. */
const IN_WORDS = [
  inner(runRecordSchema.shape.streams),
  inner(runRecordSchema.shape.stream_list.shape.streams),
  inner(attemptSchema.shape.incomplete),
  acceptanceSchema,
  heldSchema,
  inner(holdResultSchema.shape.objects),
];

const OBJECTS: Section[] = [
  ['`archive.json`', archiveSchema],
  ['`ledger/NNNNNNNN.json`', ledgerEntrySchema],
  ['`acceptances/SLUG-TIME.json`', acceptanceSchema],
  ['`runs/RUN/asked.json`', askedSchema],
  ['`runs/RUN/streams/SLUG.json`', streamRecordSchema, verdictSchema],
  ['`runs/RUN/attempts/TIME/attempt.json`', attemptSchema],
  ['`runs/RUN/run.json`', runRecordSchema],
  ['`runs/RUN/hold-log/TIME-hold.json`, `TIME-release.json`, `TIME-extend.json`', holdRecordSchema],
  ['`runs/RUN/hold-log/TIME-ACTION.done.json`', holdResultSchema],
  ['`runs/RUN/hold-log/TIME-share.json`', shareSchema],
  ['`runs/RUN/hold-log/TIME-restamp.json`', restampingSchema],
  ['5.3 `runs/RUN/run.dsse.json`', envelopeSchema],
  ['`data/verification.json`', verificationSchema],
  ['`data/service.json`', serviceSchema],
  ['`data/transfer-log.json`', transferLogSchema],
  ['`data/supplements.json`', supplementsDocumentSchema, runSupplementsSchema],
  ['`data/records.jsonl`', recordStateSchema],
  ['`data/transfer-log.json` of supplements', supplementTransferLogSchema],
  ['8. Other contracts', descriptionSchema],
];

const OPAQUE = new Set([...SHAPES.map(([, schema]) => schema), ...IN_WORDS]);

/**
 * Returns every member below a schema, as `a.b`, or `a[].b` within a list, with a note if the member may be absent or
 * null.
 */
function membersOf(schema: z.ZodType, path = ''): Map<string, string> {
  const found = new Map<string, string>();
  const { type, shape, options, valueType } = definitionOf(schema);
  const add = (members: Map<string, string>) => {
    for (const [name, notes] of members) found.set(name, notes);
  };
  for (const option of type === 'union' ? (options ?? []) : []) add(membersOf(inner(option), path));
  if (type === 'record' && valueType !== undefined) return found;
  for (const [name, member] of Object.entries(shape ?? {})) {
    const place = path === '' ? name : `${path}.${name}`;
    found.set(place, notesOf(member));
    const below = inner(member);
    if (OPAQUE.has(below)) continue;
    const within = membersOf(below, isList(member) ? `${place}[]` : place);
    // Members name lists of objects, and objects that are always present.
    if (within.size > 0 && (isList(member) || (notesOf(member) === '' && areObjects(below)))) found.delete(place);
    add(within);
  }
  return found;
}

/** True for an object, and for a union of objects. */
function areObjects(schema: z.ZodType): boolean {
  const { type, options } = definitionOf(schema);
  return type === 'object' || (type === 'union' && (options ?? []).every((option) => areObjects(inner(option))));
}

function notesOf(schema: z.ZodType): string {
  const { type, innerType, in: input } = definitionOf(schema);
  if (type === 'nullable' && innerType !== undefined) return ['null', notesOf(innerType)].filter(Boolean).join(' ');
  if ((type === 'optional' || type === 'default') && innerType !== undefined)
    return [notesOf(innerType), 'optional'].filter(Boolean).join(' ');
  if (type === 'pipe' && definitionOf(input as z.ZodType).type !== 'transform') return notesOf(input as z.ZodType);
  return '';
}

function isList(schema: z.ZodType): boolean {
  const { type, innerType } = definitionOf(schema);
  if (innerType !== undefined && ['nullable', 'optional', 'default'].includes(type)) return isList(innerType);
  return type === 'array' || type === 'tuple';
}

/** Returns the rows of the first table below a heading. */
function described(heading: string): Map<string, string> {
  const at = DOCUMENT.search(new RegExp(`^##+ ${heading.replaceAll(/[*.]/g, '\\$&')}$`, 'm'));
  expect(at, heading).toBeGreaterThan(-1);
  const [section = ''] = DOCUMENT.slice(at).split(/\n##+ /);
  const [table = ''] = section.slice(section.indexOf('\n|')).split('\n\n');
  const rows = table.matchAll(/^\| `([^`]+)` \| (.+?) \|/gm);
  return new Map([...rows].map(([, name = '', type = '']) => [name, notesIn(type)]));
}

function notesIn(type: string): string {
  return [/\bor null\b/.test(type) ? 'null' : '', /, optional$/.test(type) ? 'optional' : ''].filter(Boolean).join(' ');
}

describe('the document says every member of every schema, and no other', () => {
  test.each([...SHAPES, ...OBJECTS])('%s', (heading, schema, merged) => {
    const own = membersOf(schema);
    for (const name of merged === undefined ? [] : membersOf(merged).keys()) own.delete(name);
    expect(described(heading)).toEqual(new Map([...own].toSorted()));
  });
});

test.each<[string, readonly string[]]>([
  ['unproved claims', OPEN_CODES],
  ['unproved records', RECORD_OPEN_CODES],
  ['warnings', RUN_WARNING_CODES],
])('the document lists every code of %s, and no other', (what, codes) => {
  const [, list = ''] = DOCUMENT.split(`\nCodes of ${what}:\n`);
  const [table = ''] = list.slice(list.indexOf('|')).split('\n\n');
  const listed = [...table.matchAll(/^\| `([^`]+)` \|/gm)].map(([, code = '']) => code);
  expect(listed.toSorted()).toEqual([...codes].toSorted());
});

test('other members are another version of the format', () => {
  const members = [...SHAPES, ...OBJECTS].map(([heading, schema]) => [heading, ...membersOf(schema)]);
  const digest = sha256(Buffer.from(JSON.stringify(members)));
  // Another digest needs another version in `core/formats.ts`; otherwise verification would call older archives
  // altered.
  expect([ARCHIVE_VERSION, digest]).toEqual([7, '6cb971ed08ad0894c7470c4fb27b4ae64f5ef60f6e28b567135d056220a7f199']);
});

test('the document is of this version, wherever it names one', () => {
  // Documents that others write have their own versions.
  const named = [
    ...DOCUMENT.matchAll(/^# Archive format, version (\d+)$/gm),
    ...DOCUMENT.matchAll(/have the same VERSION; it is (\d+) here/g),
    ...DOCUMENT.matchAll(/`urn:evidence-exporter:run:(\d+)`/g),
    ...DOCUMENT.matchAll(/`evidence-(?!(?:contract|controls|package)\/)[a-z-]+\/(\d+)`/g),
  ].map(([, version]) => Number(version));
  expect(named.length).toBeGreaterThan(3);
  expect(new Set(named)).toEqual(new Set([ARCHIVE_VERSION]));
});
