import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ESTree, parseSync } from 'rolldown/utils';

/** Returns a module's exports by name, each with its signature or type from the declarations in the folder. */
export function surfaceOf(folder: string, face: string): Record<string, string> {
  const file = join(folder, face);
  return Object.fromEntries(
    programOf(file).body.flatMap((statement) => {
      if (statement.type === 'ImportDeclaration') return [];
      if (statement.type !== 'ExportNamedDeclaration' || statement.source === null)
        throw new Error(`${face} does more than to export what other files declare`);
      const source = join(dirname(file), statement.source.value.replace(/\.js$/, '.d.ts'));
      return statement.specifiers.map((one) => [nameIn(one.exported), declarationOf(source, nameIn(one.local))]);
    }),
  );
}

function declarationOf(file: string, name: string): string {
  const text = readFileSync(file, 'utf8');
  for (const statement of programOf(file).body) {
    if (statement.type !== 'ExportNamedDeclaration' || statement.declaration === null) continue;
    const { declaration } = statement;
    if (!('id' in declaration) || declaration.id?.type !== 'Identifier' || declaration.id.name !== name) continue;
    return plain(text.slice(declaration.start, declaration.end));
  }
  throw new Error(`${file} declares no ${name}`);
}

/** Returns a text in one line, without comments. */
function plain(text: string): string {
  return text
    .replaceAll(/\/\*\*.*?\*\//gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/^declare |;$/g, '');
}

function programOf(file: string): ESTree.Program {
  return parseSync(file, readFileSync(file, 'utf8')).program;
}

function nameIn(name: ESTree.ModuleExportName): string {
  return 'name' in name ? name.name : name.value;
}
