import { closest, distance } from 'fastest-levenshtein';
import { type Document, isCollection, isMap, isNode, isScalar, LineCounter, type Node, parseDocument } from 'yaml';
import { z } from 'zod';
import { EvidenceError } from './errors.ts';
import { isWellFormedJson } from './foreign-text.ts';
import { inPlainWords, shapeName } from './schema-words.ts';

/**
 * Parses a YAML document of a known shape. No tag in it can run code, and aliases cannot expand without limit.
 *
 * @param name of the file, for errors.
 * @throws EvidenceError `config` with file, line and column, the fault, and a suggestion.
 */
export function parseYaml<T>(schema: z.ZodType<T>, text: string, name: string): T {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const [syntax] = document.errors;
  if (syntax !== undefined)
    // The rest of the library's message quotes the text, which may hold a secret.
    throw new EvidenceError(
      'config',
      `${placeIn(name, lines, syntax.pos[0])}: ${syntax.message.split(' at line ')[0]}`,
    );
  const value = toValue(document, name) ?? {};
  // An escape can write a lone surrogate, which no record could hold.
  if (!isWellFormedJson(value))
    throw new EvidenceError('config', `${name}: a string contains a lone surrogate, such as "\\ud800" is`);
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const mistakes = read.error.issues.flatMap(each).map((issue) => describe(innermost(issue), schema, document));
  throw together(
    name,
    lines,
    // An unknown name is often the reason why another one is missing.
    mistakes.toSorted((a, b) => Number(a.nextStep === null) - Number(b.nextStep === null) || a.offset - b.offset),
  );
}

/** Mistake, with its place in the text. */
interface Mistake {
  offset: number;
  says: string;
  nextStep: string | null;
}

const MISTAKES_NAMED = 10;

/** Reports all mistakes of a document at once, so that they can be fixed together. */
function together(name: string, lines: LineCounter, mistakes: readonly Mistake[]): EvidenceError {
  const named = mistakes.slice(0, MISTAKES_NAMED).map(({ offset, says }) => {
    const { line, col } = lines.linePos(offset);
    return `${line}:${col}: ${says}`;
  });
  const more = mistakes.length - named.length;
  const nextStep = mistakes.find((one) => one.nextStep !== null)?.nextStep ?? null;
  return new EvidenceError('config', `${name}:${[...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')}`, {
    ...(nextStep === null ? {} : { nextStep }),
  });
}

/** Returns one issue per unknown name. */
function each(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  return issue.code === 'unrecognized_keys' ? issue.keys.map((key) => ({ ...issue, keys: [key] })) : [issue];
}

function toValue(document: Document, name: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch (error) {
    throw new EvidenceError('config', `${name} cannot be read: its aliases cannot be resolved`, { cause: error });
  }
}

function placeIn(name: string, lines: LineCounter, offset: number): string {
  const { line, col } = lines.linePos(offset);
  return `${name}:${line}:${col}`;
}

/** Returns, for a union, the fault of the alternative that matched furthest. */
function innermost(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) return issue;
  const reach = (issues: readonly z.core.$ZodIssue[]) => Math.max(...issues.map(({ path }) => path.length));
  const furthest = issue.errors.toSorted((a, b) => reach(b) - reach(a))[0] ?? [];
  const nested = mostTelling(furthest);
  if (nested === undefined || reach(furthest) === 0) return { ...issue, message: alternatives(issue.errors.flat()) };
  return innermost({ ...nested, path: [...issue.path, ...nested.path] });
}

/** Returns the most useful issue: an unknown name explains more than a missing one. */
function mostTelling(issues: readonly z.core.$ZodIssue[]): z.core.$ZodIssue | undefined {
  return issues.find(({ code }) => code === 'unrecognized_keys') ?? issues[0];
}

function alternatives(issues: readonly z.core.$ZodIssue[]): string {
  const values = issues.flatMap((issue) => (issue.code === 'invalid_value' ? issue.values : []));
  const shapes = issues.flatMap((issue) => (issue.code === 'invalid_type' ? [shapeName(issue.expected)] : []));
  const wanted = [...values.map((value) => JSON.stringify(String(value))), ...new Set(shapes)];
  return `expected ${wanted.join(' or ')}`;
}

function describe(issue: z.core.$ZodIssue, schema: z.ZodType, document: Document): Mistake {
  const unknown = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const at = [...issue.path.map(String), ...(unknown === undefined ? [] : [unknown])];
  const offset = offsetOf(document, at);
  if (unknown === undefined)
    return { offset, says: `${at.length === 0 ? '' : `${at.join('.')}: `}${inPlainWords(issue)}`, nextStep: null };
  const known = keysAt(schema, issue.path);
  const suggestion = known.find((name) => name.startsWith(`${unknown}_`)) ?? closest(unknown, known);
  const isClose = suggestion.startsWith(`${unknown}_`) || distance(unknown, suggestion) <= 4;
  const meant = known.length > 0 && isClose ? `Did you mean "${suggestion}"? ` : '';
  // An unknown key may be a secret that the user put into the file, so only plain names are shown.
  const named = NAME.test(unknown) ? ` "${at.join('.')}"` : `, of ${unknown.length} characters`;
  const nextStep = known.length === 0 ? null : `${meant}Known here: ${known.join(', ')}.`;
  return { offset, says: `unknown key${named}`, nextStep };
}

const NAME = /^[A-Za-z][A-Za-z_-]{0,39}$/;

/** Returns the place of a member in the text: its name, or the nearest existing place around it. */
function offsetOf(document: Document, path: readonly string[]): number {
  let node: Node | null = document.contents;
  let offset = node?.range?.[0] ?? 0;
  for (const name of path) {
    if (!isCollection(node)) return offset;
    if (isMap(node)) {
      const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === name);
      if (pair === undefined) return offset;
      if (isScalar(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = isNode(pair.value) ? pair.value : null;
    } else {
      const item: unknown = node.items[Number(name)];
      if (!isNode(item)) return offset;
      offset = item.range?.[0] ?? offset;
      node = item;
    }
  }
  return offset;
}

/** Returns the names that the schema knows at a path. */
function keysAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  const [name, ...rest] = path;
  const bare = unwrap(schema);
  if (bare instanceof z.ZodUnion || bare instanceof z.ZodDiscriminatedUnion)
    return [...new Set(bare.options.flatMap((option) => keysAt(option as z.ZodType, path)))];
  if (name === undefined) return bare instanceof z.ZodObject ? Object.keys(bare.shape) : [];
  if (bare instanceof z.ZodArray) return keysAt(bare.element as z.ZodType, rest);
  const next = bare instanceof z.ZodObject ? bare.shape[String(name)] : undefined;
  return next === undefined ? [] : keysAt(next as z.ZodType, rest);
}

function unwrap(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable || schema instanceof z.ZodDefault)
    return unwrap(schema.unwrap() as z.ZodType);
  return schema;
}
