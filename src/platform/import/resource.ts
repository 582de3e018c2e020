import type { Json } from '../../core/json/canonical.ts';

interface Resource {
  type: string;
  id: string;
}

type JsonObject = { [name: string]: Json };

interface Parameter {
  /** Parameter name without `Name`, `Id` etc., in lower case: `role` for `roleName`, empty for `name`. */
  stem: string;
  value: string;
}

/** Suffixes of names that identify a resource; the bare names `name`, `id` and `arn` match, too. */
const IDENTIFYING = /(?:name|id|arn|identifier)$/i;
/** Names with these suffixes that do not identify the resource acted upon. */
const INCIDENTAL = /token|session|version|clientrequest|availabilityzone|region|account|owner|engine|marker|hostname/i;
/** Parts of a request that select or describe rather than identify a resource. */
const DESCRIPTIVE = /filter|tag|context|policydocument/i;
const MAX_DEPTH = 5;

/**
 * Returns the resource of a CloudTrail record: the first of its `resources`; else the service with the most telling
 * request parameter; else the service and `-`.
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
 * Returns the parameter whose stem comes first in the action's name: the role for `PutRolePolicy {policyName,
 * roleName}`. If no stem occurs, returns a bare `name`, `id` or `arn`, or else the first parameter.
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
