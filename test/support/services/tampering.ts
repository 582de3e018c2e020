import type { ChainMaker, Draft, Sealed } from './history.ts';

export const KINDS = [
  'valid',
  'edited',
  'edited-metadata',
  'dropped',
  'dropped-range',
  'swapped',
  'duplicated',
  'forked',
  'relinked',
  'foreign',
  'no-genesis',
  'false-genesis',
  'backdated',
  'bad-seal',
  'unknown-key',
  'rewritten',
  'truncated',
  'duplicate-key',
  'unsafe-integer',
  'cut-off',
  'empty',
  'single',
] as const;
export type Kind = (typeof KINDS)[number];

/** Main stream as the service delivers it in packages and lists. */
export interface Played {
  entries: Sealed[];
  withheld: Sealed[];
  /** True if packages end in the middle. */
  cutOff: boolean;
}

/** Index of the entry to tamper with, which has sequence number 30. */
const AT = 29;

/** Applies a kind of tampering (from test/vectors/chain) to an intact chain of at least sixty entries. */
export function play(kind: Kind, maker: ChainMaker, intact: readonly Sealed[]): Played {
  return { entries: tamper(kind, maker, intact), withheld: [], cutOff: kind === 'cut-off', ...moreOf(kind, intact) };
}

function moreOf(kind: Kind, intact: readonly Sealed[]): Partial<Played> {
  return kind === 'truncated' ? { withheld: intact.slice(-10) } : {};
}

function tamper(kind: Kind, maker: ChainMaker, intact: readonly Sealed[]): Sealed[] {
  const entry = entryAt(intact, AT);
  const { members, madeUpDigest } = maker;
  switch (kind) {
    case 'valid':
    case 'cut-off':
      return [...intact];
    case 'edited':
      return intact.with(AT, withText(entry, member(members.actor, entry.actor), member(members.actor, 'mallory')));
    case 'edited-metadata':
      return intact.with(AT, withText(entry, '"n":30', '"n":31'));
    case 'dropped':
      return intact.toSpliced(AT, 1);
    case 'dropped-range':
      return intact.toSpliced(AT, 5);
    case 'swapped':
      return intact.toSpliced(AT, 2, entryAt(intact, AT + 1), entry);
    case 'duplicated':
      return intact.toSpliced(AT, 0, entry);
    case 'forked': {
      const fork: Draft = { ...entry, entryId: 'p-fork', actor: 'fork' };
      return intact.toSpliced(AT + 1, 0, ...maker.seal(entry.previous, [fork]));
    }
    case 'relinked':
      return intact.toSpliced(AT, 1, ...maker.seal(entryAt(intact, 9).digest, [entry]));
    case 'no-genesis':
      return intact.slice(3);
    case 'false-genesis':
      return maker.seal(madeUpDigest, intact);
    case 'foreign':
      return resealedFrom(maker, intact, { streamId: 'refunds' });
    case 'backdated':
      return resealedFrom(maker, intact, { recordedAt: Date.UTC(2019, 0, 1) * 1000 });
    case 'unknown-key':
      return resealedFrom(maker, intact, { keyId: maker.withheldKeyId });
    case 'rewritten':
      return resealedFrom(maker, intact, { actor: 'mallory' });
    case 'unsafe-integer':
      return resealedFrom(maker, intact, { details: entry.details.replace('"n":30', '"n":9007199254740993') });
    case 'bad-seal':
      return intact.with(AT, withBadSeal(entry, members.seal));
    case 'truncated':
      return intact.slice(0, -10);
    case 'duplicate-key':
      return intact.with(
        AT,
        withText(
          entry,
          member(members.actor, entry.actor),
          `${member(members.actor, 'mallory')},${member(members.actor, entry.actor)}`,
        ),
      );
    case 'empty':
      return [];
    case 'single':
      return intact.slice(0, 1);
  }
}

/** Changes entry 30, then hashes and seals the rest of the chain. */
function resealedFrom(maker: ChainMaker, intact: readonly Sealed[], change: Partial<Draft>): Sealed[] {
  const drafts: Draft[] = intact.slice(AT).with(0, { ...entryAt(intact, AT), ...change });
  return [...intact.slice(0, AT), ...maker.seal(entryAt(intact, AT - 1).digest, drafts)];
}

/** Sets another seal of the same form; if the seal is the digest, the entry states that digest. */
function withBadSeal(entry: Sealed, name: string): Sealed {
  const real = entry.seal ?? entry.digest;
  const bad = `${real.startsWith('f') ? 'e' : 'f'}${real.slice(1)}`;
  const changed = withText(entry, member(name, real), member(name, bad));
  return entry.seal === null ? { ...changed, digest: bad } : { ...changed, seal: bad };
}

function member(name: string, value: string): string {
  return `${JSON.stringify(name)}:${JSON.stringify(value)}`;
}

function withText(entry: Sealed, old: string, replacement: string): Sealed {
  if (entry.text.split(old).length !== 2) throw new Error(`${old} is not once in ${entry.text}`);
  return { ...entry, text: entry.text.replace(old, () => replacement) };
}

function entryAt(entries: readonly Sealed[], index: number): Sealed {
  const entry = entries[index];
  if (entry === undefined) throw new Error(`there is no entry ${index + 1}`);
  return entry;
}
