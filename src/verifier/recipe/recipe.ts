import { createHmac, hash, type KeyObject } from 'node:crypto';
import { joinBytes, utf8Bytes } from '../../core/bytes.ts';
import type { Unhashed } from '../model/unhashed.ts';
import type { Description } from '../profile/description.ts';
import type { Algorithm, JsonForm, PreimagePart } from '../profile/digest-description.ts';
import { compileUnhashed } from './cover.ts';
import { compilePart, type Hashed, type Write } from './preimage.ts';

/** Computes digests by a contract's recipe. */
export interface Recipe {
  /** Description for people, e.g. `hex(sha-256(jcs(entry - [hash, seal]))), RFC 8785`. */
  readonly words: string;
  /** True if numbers are hashed as the doubles that they denote, not as written. */
  readonly needsDoubles: boolean;
  /** Returns lower-case hex. */
  digest(entry: Hashed, key: KeyObject | null): string;
  /** Returns the parts of an entry that its digest does not cover, apart from digest and seal, the gravest first. */
  unhashed(entry: Hashed): readonly Unhashed[];
}

/** @returns null if the contract has no recipe. */
export function compileRecipe(description: Description): Recipe | null {
  const { recipe, encoding } = description.digest;
  if (recipe === null) return null;
  const parts = recipe.preimage.map((part) => ({ part, write: compilePart(part, description) }));
  const preimage = concatenate(parts.map(({ write }) => write));
  const name = hashName(recipe.algorithm);
  const keyed = recipe.key !== null;
  const needsDoubles = recipe.preimage.some(
    (part) => typeof part === 'object' && 'json' in part && part.json.form === 'rfc8785',
  );
  const words = `${encoding}(${recipe.algorithm}(${recipe.preimage.map(wordsOf).join(' + ')}))`;
  return {
    words: needsDoubles ? `${words}, RFC 8785` : words,
    needsDoubles,
    digest: (entry, key) => {
      const data = preimage(entry);
      if (!keyed) return hash(name, data, 'hex');
      if (key === null) throw new TypeError('a keyed recipe was given no key');
      return createHmac(name, key).update(data).digest('hex');
    },
    unhashed: compileUnhashed(parts, description),
  };
}

export function hashName(algorithm: Algorithm): 'sha256' | 'sha384' | 'sha512' {
  return `sha${algorithm.slice(-3) as '256' | '384' | '512'}`;
}

function concatenate(parts: readonly Write[]): Write {
  const [only] = parts;
  if (parts.length === 1 && only !== undefined) return only;
  return (entry) => {
    const pieces = parts.map((part) => part(entry));
    if (pieces.every((piece) => typeof piece === 'string')) return pieces.join('');
    return joinBytes(pieces.map(bytesOf));
  };
}

function bytesOf(piece: string | Uint8Array): Uint8Array {
  return typeof piece === 'string' ? utf8Bytes(piece) : piece;
}

function wordsOf(part: PreimagePart): string {
  if (typeof part === 'string') return part;
  if ('text' in part) return JSON.stringify(part.text);
  if ('join' in part) return `join(${JSON.stringify(part.join.separator)}, ${part.join.fields.join(', ')})`;
  const { json } = part;
  const of = json.of === undefined || json.of === '' ? 'entry' : `entry.${json.of}`;
  const chosen = 'fields' in json ? json.fields : undefined;
  const minus = json.without === undefined || json.without.length === 0 ? '' : ` - [${json.without.join(', ')}]`;
  const object = chosen === undefined ? `${of}${minus}` : `${of}[${chosen.join(', ')}]`;
  return `${formWords(json)}(${object})`;
}

function formWords(json: JsonForm): string {
  if (json.form !== 'python') return json.form === 'rfc8785' ? 'jcs' : 'json-as-sent';
  const options = [json.separators, json.ascii ? 'ascii' : 'utf-8', ...(json.sort_keys ? ['sorted'] : [])];
  return `python-json[${options.join(', ')}]`;
}
