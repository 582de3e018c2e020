import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/** A function with its lines, or an object type with its members. */
export interface Sized {
  /** Name, or kind if there is no name. */
  name: string;
  /** Line number from 1. */
  line: number;
  size: number;
  /** Line directly above. */
  above: string;
}

/** Functions and object types of a text. */
export interface Sizes {
  functions: Sized[];
  objects: Sized[];
}

/**
 * Returns every function of a source text with its lines, and every object type with the members that it declares; only
 * public ones of a class.
 */
export function sizesIn(path: string, text: string): Sizes {
  const functions: Sized[] = [];
  const objects: Sized[] = [];
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  const place = placesIn(text);
  const methods = new Set<number>();
  const nameOf = (key: ESTree.Node) => text.slice(key.start, key.end);
  const addFunction = (name: string, { start, end }: ESTree.Node) =>
    functions.push({ name, ...place(start), size: place(end).line - place(start).line + 1 });
  const addObject = (name: string, { start }: ESTree.Node, size: number) =>
    objects.push({ name, ...place(start), size });
  const addClass = (node: ESTree.Class) =>
    addObject(node.id?.name ?? 'a class', node, publicIn(node.body, nameOf).size);
  new Visitor({
    FunctionDeclaration: (node) => addFunction(node.id?.name ?? 'a function', node),
    FunctionExpression: (node) => {
      if (!methods.has(node.start)) addFunction('a function', node);
    },
    ArrowFunctionExpression: (node) => addFunction('a function', node),
    MethodDefinition: (node) => {
      methods.add(node.value.start);
      addFunction(nameOf(node.key), node);
    },
    TSInterfaceDeclaration: (node) => addObject(node.id.name, node, node.body.body.length),
    TSTypeLiteral: (node) => addObject('an object', node, node.members.length),
    ClassDeclaration: addClass,
    ClassExpression: addClass,
  }).visit(program);
  return { functions, objects };
}

/** Returns public members without the constructor. A getter and a setter count as one member. */
function publicIn({ body }: ESTree.ClassBody, nameOf: (key: ESTree.Node) => string): Set<string> {
  const members = body.filter((member) => 'key' in member);
  return new Set(
    members
      .filter(({ key, accessibility }) => key.type !== 'PrivateIdentifier' && accessibility !== 'private')
      .filter((member) => member.type !== 'MethodDefinition' || member.kind !== 'constructor')
      .map(({ key }) => nameOf(key)),
  );
}

/** Returns a function that finds lines by offset. */
function placesIn(text: string): (offset: number) => Pick<Sized, 'line' | 'above'> {
  const lines = text.split('\n');
  const starts: number[] = [];
  let next = 0;
  for (const line of lines) {
    starts.push(next);
    next += line.length + 1;
  }
  return (offset) => {
    const line = starts.findLastIndex((start) => start <= offset) + 1;
    return { line, above: lines[line - 2]?.trim() ?? '' };
  };
}
