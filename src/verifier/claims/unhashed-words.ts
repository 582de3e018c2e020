import { memberText, type Unhashed } from '../model/unhashed.ts';

/** For people: what it is that a digest says nothing about. */
export function unhashedWords(unhashed: Unhashed): string {
  switch (unhashed.kind) {
    case 'member':
      return memberText(unhashed.path);
    case 'boundary':
      return `where ${partWords(unhashed)} ends`;
    case 'type':
      return `the type of ${unhashed.path}`;
    case 'absent':
      return `${unhashed.paths.join(' and ')}, which entries lack`;
    case 'more':
      return 'more';
  }
}

function partWords({ part, paths }: Extract<Unhashed, { kind: 'boundary' }>): string {
  if (part === 'previous') return 'previous';
  return part === 'join' ? `each of ${paths.join(' + ')}` : (paths[0] ?? 'the entry');
}
