import { lstatSync, readdirSync } from 'node:fs';
import type { EndpointLine } from '../report/line.ts';
import { type BytePath, bytesOf, pathName, toBytePath } from './bytes.ts';
import { unreadLine } from './entry.ts';
import { isUnchanged, ownershipOf } from './file.ts';
import { inside, isWithin, type Root } from './roots.ts';

/** A path at which something stands that is no folder; or a folder of which a line has to tell. */
interface FoundPath {
  path: BytePath;
  /** The path's line; null if the path still has to be looked at. */
  line: EndpointLine | null;
}

/**
 * A folder is two steps: it is listed where a line of its own would stand, and entered where the lines of its files do.
 */
interface Step {
  path: BytePath;
  kind: 'entry' | 'list' | 'enter';
  /** The file system of the folder that it is in; null for a root. */
  device: bigint | null;
  line: EndpointLine | null;
}

/**
 * Walks trees in the order of paths' bytes, whatever changes in them meanwhile. It remembers the names in the folders
 * above the place where it is, and no others.
 */
export class TreeWalk {
  readonly #named: readonly BytePath[];
  readonly #listed = new Map<BytePath, Listing>();
  #isComplete = true;

  /** @param named places whose file system is walked though the folder above them is on another. */
  constructor(named: readonly BytePath[]) {
    this.#named = named;
  }

  /** True if each folder could be listed so far. */
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

  /** A mount on the way to one that is named is walked, too: more than was asked for rather than less. */
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

/** The contents of a folder. */
interface Listing {
  /** Its file system. */
  device: bigint;
  entries: { name: BytePath; isFolder: boolean }[];
}

type Look =
  /** A folder that was listed; with a line where it kept changing meanwhile. */
  | { looked: 'listed'; listing: Listing; line: EndpointLine | null }
  /** A folder that is not walked, and why. */
  | { looked: 'closed'; line: EndpointLine; isRefused: boolean }
  | { looked: 'no folder' }
  | { looked: 'gone' };

/** @param mayEnter whether a folder of this file system is walked. */
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
