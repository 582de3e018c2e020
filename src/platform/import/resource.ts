import type { Json } from '../../core/json/canonical.ts';

interface Resource {
  type: string;
  id: string;
}

type JsonObject = { [name: string]: Json };

interface Parameter {
  /** The parameter's name without `Name`, `Id`, … in lower case: `role` of `roleName`, empty for a bare `name`. */
  stem: string;
  value: string;
}

/** Endings of names that identify something. Bare `name`, `id` and `arn` do too. */
const IDENTIFYING = /(?:name|id|arn|identifier)$/i;
/** Names that end like that and identify nothing that was acted on. */
const INCIDENTAL = /token|session|version|clientrequest|availabilityzone|region|account|owner|engine|marker|hostname/i;
/** Parts of a request that select or describe instead of naming what is acted on. */
const DESCRIPTIVE = /filter|tag|context|policydocument/i;
const MAX_DEPTH = 5;

/**
 * Returns what a CloudTrail record acted on: the first of its `resources`; else the service with the request parameter
 * that says most; else the service and `-`.
 */
export function resourceOf(record: JsonObject, service: string): Resource {
  for (const resource of asArray(record['resources'])) {
    if (!isObject(resource)) continue;
    const arn = resource['ARN'];
    if (typeof arn === 'string' && arn !== '') {
      const type = resource['type'];
      return { type: typeof type === 'string' && type !== '' ? type : service, id: arn };
    }
  }
  const parameters = [...identifyingParameters(record['requestParameters'] ?? null, 0)];
  return { type: service, id: mostTelling(parameters, String(record['eventName']).toLowerCase()) ?? '-' };
}

/**
 * Returns, for `PutRolePolicy {policyName, roleName}`, the role: the parameter whose stem comes first in the action's
 * name. When none is in it, a bare `name`, `id` or `arn`, then the first there is.
 */
function mostTelling(parameters: readonly Parameter[], action: string): string | undefined {
  let best: { value: string; rank: number } | undefined;
  for (const { stem, value } of parameters) {
    const position = stem === '' ? -1 : action.indexOf(stem);
    const rank = position !== -1 ? position : stem === '' || stem === 'resource' ? action.length : action.length + 1;
    if (best === undefined || rank < best.rank) best = { value, rank };
  }
  return best?.value;
}

function* identifyingParameters(value: Json, depth: number): Generator<Parameter> {
  if (depth === MAX_DEPTH) return;
  const nested: Json[] = [];
  for (const [name, member] of isObject(value) ? Object.entries(value) : []) {
    if (DESCRIPTIVE.test(name)) continue;
    if (typeof member === 'object') nested.push(member);
    else if (typeof member === 'string' && member !== '' && IDENTIFYING.test(name) && !INCIDENTAL.test(name)) {
      yield { stem: name.replace(IDENTIFYING, '').toLowerCase(), value: member };
    }
  }
  if (Array.isArray(value)) nested.push(...value);
  for (const member of nested) yield* identifyingParameters(member, depth + 1);
}

function asArray(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
