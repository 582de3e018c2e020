import { lstatSync, readdirSync } from 'node:fs';
import type { EndpointLine } from '../report/line.ts';
import { type BytePath, bytesOf, pathName, toBytePath } from './bytes.ts';
import { unreadLine } from './entry.ts';
import { isUnchanged, ownershipOf } from './file.ts';
import { inside, isWithin, type Root } from './roots.ts';

/** Path of something other than a folder, or of a folder that needs a line. */
interface FoundPath {
  path: BytePath;
  /** Line of the path; null if the path has yet to be examined. */
  line: EndpointLine | null;
}

/**
 * Step of a walk. A folder takes two steps: it is listed at the place of its own line, and entered at the place of its
 * files' lines.
 */
interface Step {
  path: BytePath;
  kind: 'entry' | 'list' | 'enter';
  /** File system of the parent folder; null for a root. */
  device: bigint | null;
  line: EndpointLine | null;
}

/**
 * Walks trees in the order of their paths' bytes, whatever changes meanwhile. Keeps only the names in the folders above
 * the current path.
 */
export class TreeWalk {
  readonly #named: readonly BytePath[];
  readonly #listed = new Map<BytePath, Listing>();
  #isComplete = true;

  /** @param named places that are walked even if the folder above them is on another file system. */
  constructor(named: readonly BytePath[]) {
    this.#named = named;
  }

  /** True if every folder could be listed so far. */
  get isComplete(): boolean {
    return this.#isComplete;
  }

  *through(roots: readonly Root[]): Generator<FoundPath> {
    if (roots.some(({ problem }) => problem !== null)) this.#isComplete = false;
    const stack = [inOrder(roots.flatMap(({ path, isFolder, problem }) => stepsOf(path, isFolder, null, problem)))];
    for (let steps = stack.at(-1); steps !== undefined; steps = stack.at(-1)) {
      const { value: step } = steps.next();
      if (step === undefined) stack.pop();
      else if (step.kind === 'entry') yield step;
      else if (step.kind === 'list') yield* this.#list(step);
      else stack.push(this.#enter(step.path));
    }
  }

  *#list({ path, device }: Step): Generator<FoundPath> {
    const look = lookInto(path, (own) => device === null || own === device || this.#isNamed(path));
    if (look.looked === 'listed') this.#listed.set(path, look.listing);
    if (look.looked === 'closed' ? look.isRefused : look.looked === 'listed' && look.line !== null)
      this.#isComplete = false;
    if (look.looked === 'no folder') yield { path, line: null };
    else if (look.looked !== 'gone' && look.line !== null) yield { path, line: look.line };
  }

  /**
   * Reports whether a folder is named or leads to a named place. Mounts on the way are walked too, which scans more
   * rather than less than requested.
   */
  #isNamed(path: BytePath): boolean {
    return this.#named.some((named) => isWithin(named, path));
  }

  #enter(path: BytePath): Iterator<Step, undefined> {
    const listing = this.#listed.get(path);
    this.#listed.delete(path);
    const { device = null, entries = [] } = listing ?? {};
    return inOrder(entries.flatMap(({ name, isFolder }) => stepsOf(`${inside(path)}${name}`, isFolder, device, null)));
  }
}

function stepsOf(path: BytePath, isFolder: boolean, device: bigint | null, line: EndpointLine | null): Step[] {
  if (!isFolder) return [{ path, kind: 'entry', device, line }];
  return (['list', 'enter'] as const).map((kind) => ({ path, kind, device, line }));
}

function inOrder(steps: Step[]): Iterator<Step, undefined> {
  const keyed = steps.map((step) => ({ step, key: step.kind === 'enter' ? inside(step.path) : step.path }));
  return keyed
    .sort((one, other) => (one.key < other.key ? -1 : 1))
    .map(({ step }) => step)
    .values();
}

const TRIES = 3;

/** Contents of a folder. */
interface Listing {
  /** File system of the folder. */
  device: bigint;
  entries: { name: BytePath; isFolder: boolean }[];
}

type Look =
  /** Folder that was listed; with a line if it kept changing meanwhile. */
  | { looked: 'listed'; listing: Listing; line: EndpointLine | null }
  /** Folder that is not walked, with the reason. */
  | { looked: 'closed'; line: EndpointLine; isRefused: boolean }
  | { looked: 'no folder' }
  | { looked: 'gone' };

/** @param mayEnter reports whether a folder on this file system is walked. */
function lookInto(path: BytePath, mayEnter: (device: bigint) => boolean): Look {
  try {
    return list(path, mayEnter);
  } catch (error) {
    const line = unreadLine(path, error, null);
    return line === null ? { looked: 'gone' } : { looked: 'closed', line, isRefused: true };
  }
}

function list(path: BytePath, mayEnter: (device: bigint) => boolean): Look {
  const bytes = bytesOf(path);
  for (let tried = 1; ; tried++) {
    const before = lstatSync(bytes, { bigint: true });
    if (!before.isDirectory()) return { looked: 'no folder' };
    const known = { ...pathName(path), ...ownershipOf(before) };
    if (!mayEnter(before.dev)) {
      return { looked: 'closed', line: { ...known, type: 'other', why: 'other_filesystem' }, isRefused: false };
    }
    const entries = readdirSync(bytes, { encoding: 'buffer', withFileTypes: true }).map((entry) => ({
      name: toBytePath(entry.name),
      isFolder: entry.isDirectory(),
    }));
    const after = lstatSync(bytes, { bigint: true });
    const isWhole = isUnchanged(before, after);
    if (!isWhole && tried < TRIES) continue;
    const line: EndpointLine | null = isWhole ? null : { ...known, type: 'unstable', why: 'changed' };
    return { looked: 'listed', listing: { device: after.dev, entries }, line };
  }
}
