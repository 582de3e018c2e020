/** Flag, or operand, i.e. positional argument. */
export interface Flag {
  describe: string;
  /** Text by default. */
  type?: 'number' | 'boolean';
  alias?: string;
  array?: true;
  choices?: readonly string[];
  default?: string | number | false | readonly [];
  required?: true;
}

export type Flags = Readonly<Record<string, Flag>>;

/** Command of a program. */
export interface CommandTable<Work = unknown> {
  describe?: string;
  operands?: Flags;
  flags?: Flags;
  /** Command lines, with `$0` for the program. */
  examples?: readonly (readonly [line: string, describe: string])[];
  epilogue?: () => string;
  /** Error message for a command line that names none of its subcommands. */
  demand?: string;
  work?: Work;
}

/** Program, whose flags all its commands accept. */
export interface Program<Work = unknown> extends CommandTable<Work> {
  name: string;
  /** Commands by name. The name of a subcommand begins with that of its command, e.g. `keys create`. */
  commands: Readonly<Record<string, CommandTable<Work>>>;
}

type One<F> = F extends { choices: readonly (infer Choice)[] }
  ? Choice
  : F extends { type: infer Type }
    ? { number: number; boolean: boolean }[Type & ('number' | 'boolean')]
    : string;
type Several<F> = F extends { array: true } ? One<F>[] : One<F>;
type Value<F> = F extends { required: true } | { default: unknown } ? Several<F> : Several<F> | undefined;
type CamelCase<K> = K extends `${infer First}-${infer Rest}` ? `${First}${Capitalize<CamelCase<Rest>>}` : K;

/** Values of operands and flags. A flag with a hyphen has a second name, in camel case. */
export type ValuesOf<T> = T extends { operands?: infer O; flags?: infer F }
  ? { [K in keyof (O & F) as K | CamelCase<K>]: Value<(O & F)[K]> }
  : never;

/** Command, as a command line names it. */
export interface NamedCommand<Work = unknown> {
  /** Program and name, e.g. `evidence ledger`. */
  called: string;
  table: CommandTable<Work>;
  /** Flags that it accepts. */
  flags: Flags;
  /** Flags and operands. */
  known: Flags;
  /** Subcommands by name. */
  inner: Readonly<Record<string, CommandTable>>;
}

const EVERYWHERE: Flags = {
  help: { type: 'boolean', alias: 'h', describe: 'Show help' },
  version: { type: 'boolean', alias: 'V', describe: 'Show version number' },
};

/** Returns the command that the words begin with; the program itself if they name none. */
export function find<Work>(program: Program<Work>, words: readonly string[]): NamedCommand<Work> {
  const commands = Object.entries(program.commands);
  const named = (length: number) => commands.find(([name]) => name === words.slice(0, length).join(' '));
  const [name, table] = named(2) ?? named(1) ?? ['', program];
  const called = `${program.name} ${name}`.trimEnd();
  const inner = commands.filter(([one]) => `${program.name} ${one}`.replace(/ \S+$/, '') === called);
  const flags = { ...program.flags, ...table.flags, ...EVERYWHERE };
  return { called, table, flags, known: { ...table.operands, ...flags }, inner: Object.fromEntries(inner) };
}

/** Returns the second name of a flag with a hyphen. */
export function camelCase(name: string): string {
  return name.replace(/-(.)/g, (_all, letter: string) => letter.toUpperCase());
}
