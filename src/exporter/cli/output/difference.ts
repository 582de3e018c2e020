import { diffArrays } from 'diff';

/** Two texts line by line: `-` what only the first has, `+` what only the second has, in their order. */
export function difference(before: string, after: string): string {
  return diffArrays(before.split('\n'), after.split('\n'))
    .filter(({ added, removed }) => added || removed)
    .flatMap(({ added, value }) => value.map((line) => `${added ? '+' : '-'} ${line}`))
    .join('\n');
}
