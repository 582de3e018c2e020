import { type ESTree, Visitor } from 'rolldown/utils';

/** Methods that change their object. */
const CHANGES = /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin)$/;

type AnyFunction = ESTree.Function | ESTree.ArrowFunctionExpression;

/** Returns a module's variables that change after initialization: `let`, and collections that gain members. */
export function mutableState(program: ESTree.Program): string[] {
  const found: string[] = [];
  const collections = new Set<string>();
  for (const statement of program.body) {
    const declared = statement.type === 'ExportNamedDeclaration' ? statement.declaration : statement;
    if (declared?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declared.declarations) {
      const isCollection = init?.type === 'NewExpression' || init?.type === 'ArrayExpression' || isObject(init);
      if (declared.kind !== 'const') found.push(...namesIn(id));
      else if (isCollection) for (const name of namesIn(id)) collections.add(name);
    }
  }
  return [...new Set([...found, ...changedIn(program, collections)])];
}

function isObject(node: ESTree.Node | null | undefined): boolean {
  return node?.type === 'ObjectExpression';
}

/** Returns the getters that change their object or call a method that does. */
export function changingGetters(program: ESTree.Program): string[] {
  const found: string[] = [];
  const look = (key: ESTree.Node, body: ESTree.Node | null) => {
    if (body !== null && 'name' in key && changedIn(body, null).length > 0) found.push(String(key.name));
  };
  new Visitor({
    MethodDefinition: ({ kind, key, value }) => (kind === 'get' ? look(key, value.body) : undefined),
    Property: ({ kind, key, value }) => (kind === 'get' && 'body' in value ? look(key, value as never) : undefined),
  }).visit(program);
  return found;
}

/** Returns the parameters that a function changes, which a caller sees. */
export function outParameters(program: ESTree.Program): string[] {
  return functionsIn(program).flatMap((one) =>
    one.body === null ? [] : changedIn(one.body, new Set(one.params.flatMap(namesIn))),
  );
}

/** Returns the parameters that are functions without a result, which hand findings on. */
export function callbacks(program: ESTree.Program, text: string): string[] {
  return functionsIn(program).flatMap(({ params }) =>
    params
      .filter((param) => /=>\s*(?:void|Promise<void>)\s*$/.test(text.slice(param.start, param.end)))
      .flatMap(namesIn),
  );
}

/** Returns type guards that are not named `isX`. */
export function misnamedGuards(program: ESTree.Program): string[] {
  return functionsIn(program).flatMap(({ id, returnType }) => {
    const type = returnType?.typeAnnotation;
    return type?.type === 'TSTypePredicate' && !type.asserts && id !== null && !/^is[A-Z]/.test(id.name) ? id.name : [];
  });
}

/** Returns the callees of calls with `true` or `false` as an argument. */
export function booleanArguments(program: ESTree.Program, text: string): string[] {
  const found: string[] = [];
  new Visitor({
    CallExpression: ({ callee, arguments: given }) => {
      if (given.some((one) => one.type === 'Literal' && typeof one.value === 'boolean'))
        found.push(text.slice(callee.start, callee.end).replace(/\s+/g, ''));
    },
  }).visit(program);
  return [...new Set(found)];
}

/** Returns functions that map rows and copy all other columns: arguments of `.map(`, and functions named `…ToWire`. */
export function denyListMappers(program: ESTree.Program): string[] {
  const found: string[] = [];
  const restOf = ({ params: [row] }: AnyFunction) =>
    row?.type === 'ObjectPattern'
      ? row.properties.flatMap((one) => (one.type === 'RestElement' ? namesIn(one) : []))
      : [];
  const handsOn = (one: AnyFunction, name: string) => {
    let isHandedOn = one.body?.type === 'Identifier' && one.body.name === name;
    if (one.body !== null)
      visit(one.body, {
        SpreadElement: ({ argument }) => {
          isHandedOn ||= argument.type === 'Identifier' && argument.name === name;
        },
      });
    return isHandedOn;
  };
  const look = (one: AnyFunction) => found.push(...restOf(one).filter((name) => handsOn(one, name)));
  new Visitor({
    CallExpression: ({ callee, arguments: [first] }) => {
      const isMap = callee.type === 'MemberExpression' && 'name' in callee.property && callee.property.name === 'map';
      if (isMap && first?.type === 'ArrowFunctionExpression') look(first);
    },
    FunctionDeclaration: (one) => {
      if (one.id?.name.endsWith('ToWire') === true) look(one);
    },
  }).visit(program);
  return [...new Set(found)];
}

/** True for a file that declares nothing. */
export function isBarrel({ body }: ESTree.Program): boolean {
  const ofOthers = ({ type, ...statement }: ESTree.Node) =>
    type === 'ImportDeclaration' ||
    type === 'ExportAllDeclaration' ||
    (type === 'ExportNamedDeclaration' && 'declaration' in statement && statement.declaration === null);
  return body.some(({ type }) => type.startsWith('Export')) && body.every(ofOthers);
}

/** Returns the variables that a node changes. @param names null for any, including `this`. */
function changedIn(node: ESTree.Node, names: ReadonlySet<string> | null): string[] {
  const found: string[] = [];
  const note = (changed: ESTree.Node) => {
    if (changed.type !== 'MemberExpression') return;
    const { object } = changed;
    const root = rootOf(object);
    if (names === null ? root !== null : root !== null && names.has(root)) found.push(root ?? '');
  };
  visit(node, {
    AssignmentExpression: ({ left }) => note(left),
    UpdateExpression: ({ argument }) => note(argument),
    UnaryExpression: ({ operator, argument }) => (operator === 'delete' ? note(argument) : undefined),
    CallExpression: ({ callee }) => {
      if (callee.type === 'MemberExpression' && 'name' in callee.property && CHANGES.test(String(callee.property.name)))
        note(callee);
    },
  });
  return found;
}

function rootOf(node: ESTree.Node): string | null {
  if (node.type === 'Identifier') return node.name;
  if (node.type === 'ThisExpression') return 'this';
  if (node.type === 'MemberExpression') return rootOf(node.object);
  return 'expression' in node && typeof node.expression === 'object' ? rootOf(node.expression as ESTree.Node) : null;
}

function functionsIn(program: ESTree.Program): AnyFunction[] {
  const found: AnyFunction[] = [];
  const add = (one: AnyFunction) => void found.push(one);
  new Visitor({ FunctionDeclaration: add, FunctionExpression: add, ArrowFunctionExpression: add }).visit(program);
  return found;
}

/** Returns the names that a pattern declares. */
function namesIn(node: ESTree.Node | null): string[] {
  if (node === null) return [];
  if (node.type === 'Identifier') return [node.name];
  if (node.type === 'ObjectPattern')
    return node.properties.flatMap((one) => namesIn(one.type === 'RestElement' ? one.argument : one.value));
  if (node.type === 'ArrayPattern') return node.elements.flatMap(namesIn);
  if (node.type === 'AssignmentPattern') return namesIn(node.left);
  if (node.type === 'RestElement') return namesIn(node.argument);
  return node.type === 'TSParameterProperty' ? namesIn(node.parameter) : [];
}

/** Visits a part of a program. */
function visit(node: ESTree.Node, visitor: ConstructorParameters<typeof Visitor>[0]): void {
  if (node.type === 'Program') new Visitor(visitor).visit(node);
  else {
    const body = [node.type.endsWith('Statement') ? node : { type: 'ExpressionStatement', expression: node }];
    new Visitor(visitor).visit({ type: 'Program', body } as never);
  }
}
