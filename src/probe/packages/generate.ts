import type { Json } from '../../core/json/canonical.ts';
import type { Description } from '../../verifier/profile/description.ts';
import type { Described, Hints } from '../openapi.ts';
import { byName, lastName, nameWords } from '../sample/names.ts';
import { type Ask, isObject, isSuccess, jsonOf, type SampleAnswer, scalarAt, scalarPaths } from '../sample/sample.ts';

type Body = Description['generate']['body'];

/** Names of the members of a generate request; null for values without a member. */
export interface BodyNames {
  stream: string | null;
  from: string | null;
  to: string | null;
}

const has = (name: string, word: RegExp) => nameWords(name).some((one) => word.test(one));

/** Finds the members of a body by name and format, from OpenAPI or from a refusal. */
export function bodyNamesOf(described: readonly Described[]): BodyNames {
  const first = (wanted: (one: Described) => boolean) => described.find(wanted)?.name ?? null;
  const isTime = ({ name, format }: Described) =>
    /date/.test(format) || has(name, /^(date|time|from|to|since|until|start|end|after|before)$/);
  return {
    stream: first(({ name }) => has(name, /^(stream|streams|chain)$/) && !has(name, /^streams$/)) ?? null,
    from: first((one) => isTime(one) && has(one.name, /^(from|since|start|after|begin|gte)$/)),
    to: first((one) => isTime(one) && has(one.name, /^(to|until|end|before|till|lt)$/)),
  };
}

export function toBody({ stream, from, to }: BodyNames): Body {
  return {
    ...(stream === null ? {} : { [stream]: '{stream_id}' }),
    ...(from === null ? {} : { [from]: '{from}' }),
    ...(to === null ? {} : { [to]: '{to}' }),
  };
}

/** Returns the members that a refusal reports as missing: FastAPI's `detail`, or `{"name": ["is required"]}`. */
export function missingMembers(refusal: Json | undefined): string[] {
  if (!isObject(refusal)) return [];
  const { detail } = refusal;
  if (Array.isArray(detail))
    return detail.flatMap((item) => {
      const loc = isObject(item) ? item['loc'] : undefined;
      const name = Array.isArray(loc) ? loc.at(-1) : undefined;
      return typeof name === 'string' && name !== 'body' ? [name] : [];
    });
  return Object.entries(refusal).flatMap(([name, said]) =>
    Array.isArray(said) && said.some((text) => /required|blank|missing/i.test(String(text))) ? [name] : [],
  );
}

export interface Generated {
  names: BodyNames;
  answer: SampleAnswer;
  /** Package that was downloaded; null if none was. */
  package: ReadyPackage | null;
}

export interface ReadyPackage {
  id: string;
  /** Field of generate's answer with the id. */
  idField: string;
  /** Text of the JSON form. */
  text: string;
  /** True if the package was ready immediately. */
  atOnce: boolean;
}

/**
 * Requests one package of a stream and waits until its JSON form can be downloaded. If a refusal lists missing members,
 * the request is repeated once with them.
 *
 * @param pause waits between two polls; false when it has waited long enough.
 */
export async function generateOne(
  ask: Ask,
  names: BodyNames,
  streamId: string,
  pause: () => Promise<boolean>,
): Promise<Generated> {
  const post = (known: BodyNames) =>
    ask({ method: 'POST', url: '/evidence/generate', body: known.stream === null ? {} : { [known.stream]: streamId } });
  let used = names;
  let answer = await post(used);
  if (answer.status === 400 || answer.status === 422) {
    const asked = missingMembers(jsonOf(answer)).map(
      (name): Described => ({ name, type: '', format: '', required: true, maximum: null, values: [] }),
    );
    const learned = bodyNamesOf(asked);
    if (learned.stream !== null && learned.stream !== used.stream) {
      used = { ...used, stream: learned.stream };
      answer = await post(used);
    }
  }
  if (!isSuccess(answer)) return { names: used, answer, package: null };
  return { names: used, answer, package: await download(ask, jsonOf(answer), streamId, pause) };
}

/**
 * Downloads a package. Its id is the text of the answer under which something can be downloaded; likely names are tried
 * first.
 */
async function download(
  ask: Ask,
  generated: Json | undefined,
  streamId: string,
  pause: () => Promise<boolean>,
): Promise<ReadyPackage | null> {
  let fields = idFields(generated, streamId);
  for (let polls = 0; fields.length > 0; polls++) {
    const waiting: string[] = [];
    for (const field of fields) {
      const id = String(scalarAt(generated, field));
      const answer = await ask({ url: `/evidence/${encodeURIComponent(id)}/json` });
      const value = jsonOf(answer);
      if (isSuccess(answer) && answer.status !== 202 && typeof value === 'object' && value !== null)
        return { id, idField: field, text: answer.text, atOnce: polls === 0 };
      if (NOT_YET.includes(answer.status)) waiting.push(field);
    }
    // After one id is known to be pending, the other texts are no ids.
    fields = waiting;
    if (fields.length > 0 && !(await pause())) return null;
  }
  return null;
}

/** Statuses of a download that is not ready. */
export const NOT_YET = [202, 404, 409, 425];

const ID_NAMES = [
  /^(package|evidence|export|bundle|report) (id|uuid|uid)$/,
  /^(id|uuid|uid|guid)$/,
  /(id|uuid)$/,
  /package|evidence/,
];

function idFields(generated: Json | undefined, streamId: string): string[] {
  const usable = scalarPaths(generated).filter((path) => {
    const value = scalarAt(generated, path);
    return (
      (typeof value === 'string' && /^[^\s/?#]{1,200}$/.test(value) && value !== streamId) ||
      Number.isSafeInteger(value)
    );
  });
  const ordered: string[] = [];
  for (const pattern of ID_NAMES) {
    const left = usable.filter((path) => !ordered.includes(path));
    const next = byName(left, [pattern]);
    if (next !== undefined) ordered.push(next);
  }
  return ordered;
}

const STATUS_NAMES = [/^(status|state)$/, /status|state/];

/**
 * Infers when a package is ready: by the status at its own address, if there is one; otherwise by the download's
 * answers, unless it was ready immediately.
 */
export async function findReadiness(
  ask: Ask,
  generated: SampleAnswer,
  { id, atOnce }: ReadyPackage,
  hints: Hints,
): Promise<Description['generate']['ready']> {
  const own = await ask({ url: `/evidence/${encodeURIComponent(id)}` });
  const status = isSuccess(own) ? statusField(jsonOf(own)) : undefined;
  if (status !== undefined) {
    const now = String(scalarAt(jsonOf(own), status));
    const before = scalarAt(jsonOf(generated), status);
    return {
      when: 'status-says',
      path: '/evidence/{package_id}',
      field: status,
      ready: [now],
      pending: pendingOf(hints, status, before, now),
    };
  }
  if (atOnce && generated.status !== 202) return { when: 'at-once' };
  return { when: 'download-answers', not_yet: [...NOT_YET] };
}

function statusField(value: Json | undefined): string | undefined {
  const texts = scalarPaths(value).filter((path) => typeof scalarAt(value, path) === 'string');
  return byName(texts, STATUS_NAMES);
}

function pendingOf(hints: Hints, field: string, before: Json | undefined, now: string): string[] {
  const documented = hints.generate?.answer.find(({ name }) => name === lastName(field))?.values ?? [];
  const failed = /fail|error|cancel|expire|delete|reject/i;
  const pending = documented.filter((value) => value !== now && !failed.test(value));
  if (pending.length > 0) return pending;
  return typeof before === 'string' && before !== now ? [before] : ['pending'];
}
