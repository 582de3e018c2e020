import type { Description } from '../../verifier/profile/description.ts';
import { nameWords } from '../sample/names.ts';
import { allPaths, type Sample } from '../sample/sample.ts';

type Party = 'actor' | 'action' | 'resource';

/** Patterns for the words of a path. The first pattern that matches any path decides. */
const PARTIES: Record<Party, readonly RegExp[]> = {
  actor: [/^actor( (id|type|name|email))?$/, /^(user|principal|subject)( (id|type|name|email))?$/],
  action: [/^action( (type|name))?$/, /^(event|operation|verb|activity)( (type|name))?$/],
  resource: [/^resource( (type|kind|id|name))?$/, /^(target|object|entity)( (type|kind|id|name))?$/],
};

const ORDER = ['type', 'kind', 'id', 'name'];

/**
 * Finds actor, action and resource by name, because values do not show them. Requires all three: only then are the
 * members that digests omit known to be none of them.
 */
export function findParties(entries: readonly Sample[], taken: readonly string[]): Pick<Description['entry'], Party> {
  const paths = allPaths(entries).filter((path) => !taken.includes(path));
  const [actor, action, resource] = (['actor', 'action', 'resource'] as const).map((party) => find(paths, party));
  if (actor === undefined || action === undefined || resource === undefined) return {};
  return { actor, action, resource };
}

/** Returns the shallowest matching path, or several of the same depth. */
function find(paths: readonly string[], party: Party): string | string[] | undefined {
  for (const pattern of PARTIES[party]) {
    const fitting = paths.filter((path) => pattern.test(wordsIn(path).join(' ')));
    if (fitting.length === 0) continue;
    const depth = Math.min(...fitting.map(depthOf));
    const found = fitting.filter((path) => depthOf(path) === depth).toSorted((a, b) => rank(a) - rank(b));
    return found.length === 1 ? found[0] : found;
  }
  return undefined;
}

function wordsIn(path: string): string[] {
  return path.split('.').flatMap(nameWords);
}

function depthOf(path: string): number {
  return path.split('.').length;
}

function rank(path: string): number {
  return ORDER.indexOf(wordsIn(path).at(-1) ?? '');
}
