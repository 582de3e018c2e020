import type { Json } from '../core/json/canonical.ts';
import { valueAt } from '../verifier/profile/path.ts';
import { nameWords } from './sample/names.ts';
import { isObject } from './sample/sample.ts';

/** Parameter of a list, or member of a body, as the service's OpenAPI document describes it. */
export interface Described {
  name: string;
  /** `string`, `integer`, `boolean`, `array`, …; empty if not stated. */
  type: string;
  format: string;
  required: boolean;
  maximum: number | null;
  values: string[];
}

interface VerifyOperation {
  /** Path with `{stream_id}`. */
  path: string;
  fields: Record<'verified' | 'checked_at' | 'failures' | 'failure_sequence', string | null>;
}

/**
 * Facts from an OpenAPI document that values cannot show. They are only hints: everything that can be tried is tried.
 */
export interface Hints {
  isOffered: boolean;
  /** True if FastAPI generated the document. */
  isPython: boolean;
  streams: Described[];
  entries: Described[];
  /** Names of an entry's members, in schema order. */
  entryFields: string[];
  generate: { body: Described[]; idempotencyHeader: string | null; answer: Described[] } | null;
  verify: VerifyOperation | null;
}

export const NO_HINTS: Hints = {
  isOffered: false,
  isPython: false,
  streams: [],
  entries: [],
  entryFields: [],
  generate: null,
  verify: null,
};

/** @param prefix of the document's paths before those of the audit service, such as `/audit`. */
export function readOpenApi(document: Json, prefix: string): Hints {
  const paths = valueAt(document, 'paths');
  if (!isObject(paths)) return NO_HINTS;
  const api = new Document(document);
  const operation = (path: string, method: string): Json | undefined => {
    const item = [prefix + path, path].flatMap((known) => paths[known] ?? paths[known.replace(/\/$/, '')] ?? [])[0];
    return isObject(item) ? item[method] : undefined;
  };
  const generate = operation('/evidence/generate', 'post');
  return {
    isOffered: true,
    isPython: api.hasSchema('HTTPValidationError'),
    streams: api.parameters(operation('/streams/', 'get'), 'query'),
    entries: api.parameters(operation('/entries/', 'get'), 'query'),
    entryFields: api.itemFields(api.answer(operation('/entries/', 'get'))),
    generate:
      generate === undefined
        ? null
        : {
            body: api.properties(api.bodyOf(valueAt(generate, 'requestBody'))),
            idempotencyHeader:
              api.parameters(generate, 'header').find(({ name }) => /idempoten/i.test(name))?.name ?? null,
            answer: api.properties(api.answer(generate)),
          },
    verify: findVerify(api, paths, prefix),
  };
}

function findVerify(api: Document, paths: { [name: string]: Json }, prefix: string): VerifyOperation | null {
  for (const [path, item] of Object.entries(paths)) {
    const post = isObject(item) ? item['post'] : undefined;
    const own = path.startsWith(prefix) ? path.slice(prefix.length) : path;
    const [placeholder, ...others] = own.match(/\{[^}]*\}/g) ?? [];
    if (post === undefined || placeholder === undefined || others.length > 0) continue;
    const isVerify = /verif/i.test(own) || /verif/i.test(String(valueAt(post, 'operationId') ?? ''));
    if (!isVerify || !/stream/i.test(own)) continue;
    return { path: own.replace(placeholder, '{stream_id}'), fields: verifyFields(api, api.answer(post)) };
  }
  return null;
}

function verifyFields(api: Document, answer: Json | undefined): VerifyOperation['fields'] {
  const properties = api.properties(answer);
  const has = (name: string, word: RegExp) => nameWords(name).some((one) => word.test(one));
  const firstOf = (type: string, from: readonly Described[], word: RegExp) => {
    const typed = from.filter((one) => one.type === type);
    return (typed.find(({ name }) => has(name, word)) ?? typed[0])?.name ?? null;
  };
  const failures = firstOf('array', properties, /fail|error|problem|violation|issue|broken/);
  const failure = failures === null ? [] : api.itemProperties(api.property(answer, failures));
  return {
    verified: firstOf('boolean', properties, /verif|valid|intact|ok/),
    checked_at:
      properties.find(
        ({ name, format }) => format === 'date-time' || (has(name, /^(checked|verified|at)$/) && has(name, /^at$/)),
      )?.name ?? null,
    failures,
    failure_sequence: firstOf('integer', failure, /seq|position|index|number/),
  };
}

/** Schemas of a document, with references resolved. */
class Document {
  readonly #root: Json;

  constructor(root: Json) {
    this.#root = root;
  }

  hasSchema(name: string): boolean {
    const schemas = valueAt(this.#root, 'components.schemas');
    return isObject(schemas) && Object.hasOwn(schemas, name);
  }

  parameters(operation: Json | undefined, where: string): Described[] {
    const list = valueAt(operation, 'parameters');
    if (!Array.isArray(list)) return [];
    return list.flatMap((sent) => {
      const parameter = this.#resolve(sent);
      const name = valueAt(parameter, 'name');
      if (typeof name !== 'string' || valueAt(parameter, 'in') !== where) return [];
      return [this.#describe(name, valueAt(parameter, 'schema'), valueAt(parameter, 'required') === true)];
    });
  }

  bodyOf(holder: Json | undefined): Json | undefined {
    const content = valueAt(this.#resolve(holder), 'content');
    if (!isObject(content)) return undefined;
    const [, json] = Object.entries(content).find(([type]) => /json/i.test(type)) ?? [];
    return this.#resolve(valueAt(json, 'schema'));
  }

  answer(operation: Json | undefined): Json | undefined {
    const responses = valueAt(operation, 'responses');
    if (!isObject(responses)) return undefined;
    const [, success] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? [];
    return this.bodyOf(success);
  }

  properties(schema: Json | undefined): Described[] {
    const properties = valueAt(schema, 'properties');
    const required = valueAt(schema, 'required');
    if (!isObject(properties)) return [];
    return Object.entries(properties).map(([name, inner]) =>
      this.#describe(name, inner, Array.isArray(required) && required.includes(name)),
    );
  }

  property(schema: Json | undefined, name: string): Json | undefined {
    const properties = valueAt(schema, 'properties');
    return isObject(properties) ? this.#concrete(properties[name]) : undefined;
  }

  itemProperties(schema: Json | undefined): Described[] {
    return this.properties(this.#concrete(valueAt(schema, 'items')));
  }

  /** Returns the members of a list's items: of the array itself, or of the array of objects in the answer. */
  itemFields(schema: Json | undefined): string[] {
    const direct = this.itemProperties(schema);
    const within = this.properties(schema).map(({ name }) => this.itemProperties(this.property(schema, name)));
    const fields = [direct, ...within].find((found) => found.length > 0) ?? [];
    return fields.map(({ name }) => name);
  }

  #describe(name: string, sent: Json | undefined, required: boolean): Described {
    const schema = this.#concrete(sent);
    const read = (key: string) => valueAt(schema, key);
    const [type, format, maximum, values] = [read('type'), read('format'), read('maximum'), read('enum')];
    return {
      name,
      type: String((Array.isArray(type) ? type.find((one) => one !== 'null') : type) ?? ''),
      format: typeof format === 'string' ? format : '',
      required,
      maximum: typeof maximum === 'number' ? maximum : null,
      values: Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [],
    };
  }

  /** Returns the schema with references resolved, and of "this or null" the part that is not null. */
  #concrete(sent: Json | undefined): Json | undefined {
    const schema = this.#resolve(sent);
    for (const key of ['anyOf', 'oneOf', 'allOf']) {
      const choices = valueAt(schema, key);
      const choice = Array.isArray(choices)
        ? choices.map((one) => this.#resolve(one)).find((one) => valueAt(one, 'type') !== 'null')
        : undefined;
      if (choice !== undefined) return choice;
    }
    return schema;
  }

  /** Resolves references. Limits the number of steps, because references may be circular. */
  #resolve(sent: Json | undefined): Json | undefined {
    let here = sent;
    for (let steps = 0; steps < 8; steps++) {
      const reference = isObject(here) ? here['$ref'] : undefined;
      if (typeof reference !== 'string' || !reference.startsWith('#/')) return here;
      let target: Json | undefined = this.#root;
      for (const name of reference.slice(2).split('/'))
        target = isObject(target) ? target[name.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined;
      here = target;
    }
    return here;
  }
}
