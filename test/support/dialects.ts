import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { toHmacKey } from '../../src/core/digest.ts';
import type { Json } from '../../src/core/json/canonical.ts';
import type { Entry, SealKeys } from '../../src/verifier/model/entry.ts';
import type { Description } from '../../src/verifier/profile/description.ts';
import type { DigestEncoding, PreimagePart } from '../../src/verifier/profile/digest-description.ts';
import { parseContract } from '../../src/verifier/profile/file.ts';
import type { Contract } from '../../src/verifier/reading/contract.ts';
import { DEFAULT_DESCRIPTION } from '../../src/verifier/reading/default-contract.ts';
import { openContract } from '../../src/verifier/reading/reading.ts';
import { STREAM } from './chain.ts';
import { DIALECTS, describeDialect } from './vendor-dialects.ts';

/** Chains of any dialect, with digests from the slow path. */
export interface Dialect {
  name: string;
  description: Description;
  contract: Contract;
  /** The reference path, which parses, canonicalizes and hashes each entry. */
  slow: Contract;
  keys: SealKeys;
}

/** Seeded random numbers, so that every case can be reproduced. */
export type Random = (below: number) => number;

const SECRETS = ['chain-2026', 'k1', 'k2', 'k-é'];
const KEYS: SealKeys = new Map(SECRETS.map((id, index) => [id, toHmacKey(Buffer.alloc(40 * (1 + index), id))]));

function dialectOf(name: string, { numbers, entry, digest, seal }: Description): Dialect {
  const description: Description = { ...DEFAULT_DESCRIPTION, name, numbers, entry, digest, seal };
  const contract = openContract(description);
  return { name, description, contract, slow: { ...contract, program: null }, keys: KEYS };
}

const folder = resolve(import.meta.dirname, '../../templates/contract');
const templates = readdirSync(folder).map((file) =>
  dialectOf(file, parseContract(readFileSync(join(folder, file), 'utf8'), file)),
);

/** Recipes of the invented services. */
const python: PreimagePart = {
  json: {
    form: 'python',
    separators: 'spaced',
    ascii: true,
    sort_keys: true,
    without: ['previous_hash', 'entry_hash', 'signature', 'key_version'],
  },
};
const camelFields = ['streamId', 'seq', 'recordedAt', 'actor', 'action', 'resourceType', 'resourceId', 'prevDigest'];
const base = { first_sequence: 1, timestamp_unit: 'text' } as const;
const services = [
  dialectOf('fastapi service', {
    ...DEFAULT_DESCRIPTION,
    entry: {
      ...base,
      stream_id: 'stream',
      sequence: 'seq',
      entry_id: 'id',
      timestamp: 'at',
      previous: 'previous_hash',
      digest: 'entry_hash',
    },
    digest: {
      encoding: 'hex',
      prefix: '',
      genesis: 'zeros',
      recipe: { algorithm: 'sha-256', key: null, preimage: ['previous', python] },
    },
    seal: {
      field: 'signature',
      key: { field: 'key_version' },
      algorithm: 'hmac-sha-256',
      encoding: 'hex',
      over: 'digest-text',
    },
  }),
  dialectOf('camel service', {
    ...DEFAULT_DESCRIPTION,
    entry: {
      ...base,
      stream_id: 'streamId',
      sequence: 'seq',
      entry_id: 'entryId',
      timestamp: 'recordedAt',
      previous: 'prevDigest',
      digest: 'digest',
    },
    digest: {
      encoding: 'base64url',
      prefix: '',
      genesis: 'empty',
      recipe: {
        algorithm: 'sha-512',
        key: null,
        preimage: [{ join: { separator: '|', fields: camelFields, null_as: '' } }],
      },
    },
    seal: {
      field: 'signature',
      key: { field: 'signatureKeyId' },
      algorithm: 'hmac-sha-512',
      encoding: 'base64',
      over: 'digest-text',
    },
  }),
  dialectOf('results service', {
    ...DEFAULT_DESCRIPTION,
    entry: {
      ...base,
      stream_id: 'stream',
      sequence: 'position',
      entry_id: 'uid',
      timestamp: 'created',
      previous: 'prev_mac',
      digest: 'mac',
    },
    digest: {
      encoding: 'hex',
      prefix: '',
      genesis: 'null',
      recipe: {
        algorithm: 'hmac-sha-256',
        key: { field: 'key_id' },
        preimage: ['previous', { text: '\n' }, { json: { form: 'as-sent', without: ['prev_mac', 'mac'] } }],
      },
    },
    seal: null,
  }),
];

/** Dialects of templates/contract, of the invented services, and of test/contract. */
export const ALL_DIALECTS: readonly Dialect[] = [
  ...templates,
  ...services,
  ...DIALECTS.map(([name, changes]) => dialectOf(name, describeDialect(name, changes))),
  // The second join is part of the bytes after the first.
  dialectOf(
    'two joins',
    describeDialect('two joins', {
      preimage: [
        { join: { separator: '|', fields: ['prev', 'seq', 'at'], null_as: '' } },
        { text: '|' },
        { join: { separator: '|', fields: ['actor', 'action'], null_as: '' } },
      ],
    }),
  ),
];

export function dialectNamed(name: string): Dialect {
  const found = ALL_DIALECTS.find((dialect) => dialect.name === name);
  if (found === undefined) throw new Error(`no dialect ${name}`);
  return found;
}

/** Placeholders for a digest and a seal that are not computed yet. */
const DIGEST = '@digest@';
const SEAL = '@seal@';

export interface Style {
  spaced: boolean;
  ascii: boolean;
  pretty: boolean;
}

/** Members of an entry by path; an undefined member is absent. */
type Members = Map<string, Json | undefined>;

const WORDS = [
  'svc-deploy',
  'Zoë Müller',
  '运维-机器人',
  'a "quoted" \\ one\t',
  '😀\u007f',
  '',
  '5',
  'a|b',
  'true',
  '[x',
];

function membersOf({ description }: Dialect, index: number, previous: Json | undefined, random: Random): Members {
  const { entry, digest, seal, numbers } = description;
  const sequence = entry.first_sequence + index;
  const word = () => (random(3) > 0 ? `w-${index % 5}` : (WORDS[random(WORDS.length)] ?? ''));
  const time = Date.UTC(2026, 9, 1) + index * 1000;
  const times = { text: new Date(time).toISOString(), seconds: time / 1000, milliseconds: time };
  const members: Members = new Map();
  for (const path of ['actor', 'action', ...fieldsOf(description.digest.recipe?.preimage ?? [])])
    members.set(path, word());
  members.set('amount', [1.5, 3, -2, 0.1][index % 4]);
  members.set('metadata', { zeta: index, alpha: word(), nested: [1, { b: null, a: true }], empty: {} });
  members.set(entry.stream_id ?? 'x', STREAM);
  members.set(entry.sequence, numbers === 'text' ? String(sequence) : sequence);
  members.set(entry.entry_id ?? 'x', `e-${sequence}`);
  members.set(entry.timestamp ?? 'x', times[entry.timestamp_unit]);
  for (const key of [digest.recipe?.key ?? null, seal?.key ?? null])
    if (key !== null && 'field' in key) members.set(key.field, SECRETS[index % SECRETS.length] ?? '');
  members.set(entry.previous, previous);
  members.set(entry.digest, DIGEST);
  if (seal !== null) members.set(seal.field, SEAL);
  return members;
}

function fieldsOf(preimage: readonly PreimagePart[]): string[] {
  return preimage.flatMap((part) => {
    if (typeof part === 'string' || 'text' in part) return [];
    if ('join' in part) return part.join.fields;
    return [...(('fields' in part.json && part.json.fields) || []), ...(part.json.of ? [part.json.of] : [])];
  });
}

/** Nests members by their paths, as the service writes them. */
function toObject(members: Members): { [name: string]: Json } {
  const object: { [name: string]: Json } = {};
  for (const [path, value] of members) {
    const names = path.split('.');
    let here = object;
    for (const name of names.slice(0, -1)) {
      const inner = here[name];
      const next: typeof object = typeof inner === 'object' && inner !== null && !Array.isArray(inner) ? inner : {};
      here[name] = next;
      here = next;
    }
    if (value !== undefined) here[names.at(-1) ?? ''] = value;
  }
  return object;
}

function quoted(text: string, { ascii }: Style): string {
  const json = JSON.stringify(text);
  if (!ascii) return json;
  return json.replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

export function write(value: Json, style: Style, indent = ''): string {
  if (typeof value === 'string') return quoted(value, style);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const inner = `${indent} `;
  const items = Array.isArray(value)
    ? value.map((item) => write(item, style, inner))
    : Object.entries(value).map(
        ([name, item]) =>
          `${quoted(name, style)}:${style.spaced || style.pretty ? ' ' : ''}${write(item, style, inner)}`,
      );
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (style.pretty && items.length > 0) return `${open}\n${inner}${items.join(`,\n${inner}`)}\n${indent}${close}`;
  return open + items.join(style.spaced ? ', ' : ',') + close;
}

function encoded(hex: string, encoding: DigestEncoding, prefix = ''): string {
  return prefix + Buffer.from(hex, 'hex').toString(encoding);
}

/** Reads an entry, given as latin1, with the slow path; null if the text is no entry. */
export function readOne({ slow, keys }: Dialect, text: string): Entry | null {
  const bytes = Buffer.from(text, 'latin1');
  try {
    let members = 0;
    for (let at = 0, inString = false; at < bytes.length; at++) {
      const byte = bytes[at];
      if (inString && byte === 0x5c) at++;
      else if (byte === 0x22) inString = !inString;
      else if (!inString && byte === 0x3a) members++;
    }
    return slow.readEntry(bytes, members, keys);
  } catch {
    return null;
  }
}

const HEX_DIGITS: Record<string, number> = { 256: 64, 384: 96, 512: 128 };

/** Returns the length of a digest in bytes. */
export function digestBytes({ description }: Dialect): number {
  return (HEX_DIGITS[description.digest.recipe?.algorithm.slice(-3) ?? '256'] ?? 64) / 2;
}

/** Inserts this digest (hex), or the one that the slow path computes, and the seal. Texts are latin1. */
export function stamp(dialect: Dialect, text: string, digest?: string): string {
  const { encoding, prefix } = dialect.description.digest;
  const nothing = encoded('00'.repeat(digestBytes(dialect)), encoding, prefix);
  const { seal } = dialect.description;
  const noSeal = encoded(
    '00'.repeat((HEX_DIGITS[seal?.algorithm.slice(-3) ?? '256'] ?? 64) / 2),
    seal?.encoding ?? 'hex',
  );
  const read = readOne(dialect, text.replace(DIGEST, nothing).replace(SEAL, noSeal));
  const content = read?.content;
  const hex = digest ?? (content?.state === 'computed' ? content.digest : '00'.repeat(digestBytes(dialect)));
  const digestText = encoded(hex, encoding, prefix);
  const keyId = read?.seal === 'malformed' ? null : read?.seal?.keyId;
  const key = dialect.keys.get(keyId ?? '');
  const made = key === undefined || seal === null ? '' : dialect.contract.sealOf(key, { digest: hex, digestText });
  return text.replace(DIGEST, digestText).replace(SEAL, encoded(made, seal?.encoding ?? 'hex'));
}

/** Returns the value that the first entry sends as its predecessor's digest. */
export function genesisOf(dialect: Dialect): Json | undefined {
  const { genesis, encoding, prefix } = dialect.description.digest;
  if (genesis === 'null') return null;
  if (genesis === 'absent') return undefined;
  if (genesis === 'empty') return '';
  return genesis === 'zeros' ? encoded('00'.repeat(digestBytes(dialect)), encoding, prefix) : genesis.text;
}

/** Returns an entry without digest and seal, with its members in random order. Texts are latin1. */
export function draftOf(
  dialect: Dialect,
  index: number,
  previous: Json | undefined,
  style: Style,
  random: Random,
): string {
  const members = [...membersOf(dialect, index, previous, random)];
  if (random(3) === 0) members.push(...members.splice(0, random(members.length)));
  return Buffer.from(write(toObject(new Map(members)), style)).toString('latin1');
}

/** Returns this entry's digest as the slow path reads it, for the next entry. */
export function digestTextOf(dialect: Dialect, entry: string): string {
  return (
    readOne(dialect, entry)?.digestText ??
    encoded('11'.repeat(digestBytes(dialect)), dialect.description.digest.encoding, dialect.description.digest.prefix)
  );
}

/** Returns the formatting that most services of this kind use. */
export function usualStyle({ description }: Dialect): Style {
  const form = description.digest.recipe?.preimage.flatMap((part) =>
    typeof part === 'object' && 'json' in part ? [part.json] : [],
  )[0];
  return { spaced: form?.form === 'python' && form.separators === 'spaced', ascii: false, pretty: false };
}

/** Returns a chain in latin1. */
export function chainIn(
  dialect: Dialect,
  length: number,
  random: Random,
  style: (random: Random) => Style = () => usualStyle(dialect),
): string[] {
  const entries: string[] = [];
  for (let index = 0; index < length; index++) {
    const last = entries.at(-1);
    const previous = last === undefined ? genesisOf(dialect) : digestTextOf(dialect, last);
    entries.push(stamp(dialect, draftOf(dialect, index, previous, style(random), random)));
  }
  return entries;
}

const HEAD = JSON.stringify({
  format: 'evidence-package/1',
  package_id: 'pkg-1',
  stream: { stream_id: STREAM },
  generated_at: '2026-11-01T00:00:00.000Z',
}).slice(0, -1);

/** Returns a package of entries given as latin1. */
export function packageIn({ description }: Dialect, entries: readonly string[]): Buffer {
  const stated = {
    entry_count: description.numbers === 'text' ? String(entries.length) : entries.length,
    first_sequence: null,
    last_sequence: null,
    head_hash: null,
    checkpoints: [],
  };
  return Buffer.from(`${HEAD},${JSON.stringify(stated).slice(1, -1)},"entries":[${entries.join(',')}]}`, 'latin1');
}
