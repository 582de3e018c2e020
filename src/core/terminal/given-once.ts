import type { Argv } from 'yargs';

/** Members that its types leave out. */
interface KnownOptions {
  getOptions(): { array: readonly string[] };
}

/** Complains of a flag that is given twice and means one thing: nobody knows which of the two was meant. */
export function refuseTwice(parser: Argv): Argv {
  return parser.check((flags) => {
    const { array } = (parser as unknown as KnownOptions).getOptions();
    const isTwice = ([name, value]: [string, unknown]) =>
      // A name with capitals is the same flag once more.
      Array.isArray(value) && /^[a-z][a-z-]*$/.test(name) && !array.includes(name);
    const [name] = Object.entries(flags).find(isTwice) ?? [];
    return name === undefined || `--${name} is given more than once`;
  }, true);
}
