import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/** A function by its lines, or a type of objects by its members. */
export interface Sized {
  /** As it is called, or what it is. */
  name: string;
  /** From 1. */
  line: number;
  size: number;
  /** The line directly above it. */
  above: string;
}

/** The functions and the types of objects of a text. */
export interface Sizes {
  functions: Sized[];
  objects: Sized[];
}

/**
 * Every function of a source text by its lines, and every type of objects by the members that it declares; of a class
 * the public ones.
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

/** Without the constructor. An accessor to read and one to write are one member. */
function publicIn({ body }: ESTree.ClassBody, nameOf: (key: ESTree.Node) => string): Set<string> {
  const members = body.filter((member) => 'key' in member);
  return new Set(
    members
      .filter(({ key, accessibility }) => key.type !== 'PrivateIdentifier' && accessibility !== 'private')
      .filter((member) => member.type !== 'MethodDefinition' || member.kind !== 'constructor')
      .map(({ key }) => nameOf(key)),
  );
}

/** Finds lines by offsets. */
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
