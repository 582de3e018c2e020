import type { Argv } from 'yargs';

/** Members of the parser that its types leave out. */
interface KnownOptions {
  getOptions(): { array: readonly string[] };
}

/** Refuses a flag with a single value that is given twice, because the intended value is unclear. */
export function refuseTwice(parser: Argv): Argv {
  return parser.check((flags) => {
    const { array } = (parser as unknown as KnownOptions).getOptions();
    const isTwice = ([name, value]: [string, unknown]) =>
      // A name with capitals is an alias of the same flag.
      Array.isArray(value) && /^[a-z][a-z-]*$/.test(name) && !array.includes(name);
    const [name] = Object.entries(flags).find(isTwice) ?? [];
    return name === undefined || `--${name} is given more than once`;
  }, true);
}
