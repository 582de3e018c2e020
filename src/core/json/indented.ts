/** Name of a method that yields an object's members, for objects whose members are not all in memory. */
export const MEMBERS = Symbol('members');

/**
 * Yields the text of `JSON.stringify(value, null, 2)` piece by piece, for values that are too long to hold as a whole.
 * An iterable is written as a list, so that its members need not all be in memory; see also `MEMBERS`.
 *
 * @param depth number of levels of objects and lists that are taken apart; each deeper value is one piece.
 */
export function* indentedJson(value: unknown, depth: number, indent = ''): Generator<string> {
  if (depth === 0 || typeof value !== 'object' || value === null) {
    yield JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
    return;
  }
  const inner = `${indent}  `;
  const list = isIterable(value) && !isMemberSource(value) ? value : null;
  const [open, close] = list === null ? '{}' : '[]';
  let isEmpty = true;
  for (const [name, member] of list === null ? membersOf(value) : unnamed(list)) {
    if (member === undefined) continue;
    yield `${isEmpty ? open : ','}\n${inner}${name === null ? '' : `${JSON.stringify(name)}: `}`;
    yield* indentedJson(member, depth - 1, inner);
    isEmpty = false;
  }
  yield isEmpty ? `${open}${close}` : `\n${indent}${close}`;
}

function membersOf(value: object): Iterable<[string, unknown]> {
  return isMemberSource(value) ? value[MEMBERS]() : Object.entries(value);
}

function isMemberSource(value: object): value is { [MEMBERS](): Iterable<[string, unknown]> } {
  return MEMBERS in value;
}

function isIterable(value: object): value is Iterable<unknown> {
  return Symbol.iterator in value;
}

function* unnamed(list: Iterable<unknown>): Generator<[null, unknown]> {
  for (const member of list) yield [null, member];
}
