import { chainOf, entryAfter, packageOf, type SentEntry } from './chain.ts';

/** A document built to exhaust its reader. */
export interface Hurtful {
  name: string;
  /** Approximate numbers of bytes, levels or members; the second is four times the first. */
  sizes: readonly [number, number];
  /** Bytes by which the resident set may exceed a small package's, at the second size. */
  memory: number;
  /** Exit code of `evidence verify`. */
  exit: 0 | 1 | 3;
  /** Codes of all findings, without duplicates. */
  findings: string[];
  write(size: number): Iterable<string>;
}

const MB = 2 ** 20;
const USUAL = { sizes: [3 * MB, 12 * MB] as const, memory: 64 * MB };
const SOUND = { exit: 0 as const, findings: [] };
const DECOY = '"},{"entry_id":"e","stream_id":"payments/prod","sequence":2,"hash":"';

const DECOYS = ',{"entries":[{"entry_id":"e"}]}'.repeat(1000);

const [HEAD = ''] = JSON.stringify(packageOf([]))
  .replace(/"(entry_count|first_sequence|last_sequence|head_hash)":(0|null),/g, '')
  .split('"entries":[]');

interface Sent {
  entry: SentEntry;
  text: string;
}

/** Writes a package around the entries. */
function* packed(entries: Iterable<Sent>): Iterable<string> {
  let [count, last]: [number, SentEntry | null] = [0, null];
  for (const { entry, text } of entries) {
    yield count === 0 ? `${HEAD}"entries":[` : ',';
    yield text;
    count++;
    last = entry;
  }
  const { sequence = null, hash = null } = last ?? {};
  const stated = { entry_count: count, first_sequence: 1, last_sequence: sequence, head_hash: hash };
  yield `],${JSON.stringify(stated).slice(1)}`;
}

/** Writes a sound chain, with each entry formatted by `toText`. */
function* chain(
  bytes: number,
  toText: (entry: SentEntry, index: number) => string = (entry) => JSON.stringify(entry),
  more: Partial<SentEntry> = {},
): Iterable<Sent> {
  let previous: SentEntry | null = null;
  for (let written = 0, index = 0; written < bytes; index++) {
    const entry: SentEntry = entryAfter(previous, more);
    const text = toText(entry, index);
    yield { entry, text };
    written += text.length;
    previous = entry;
  }
}

/** Yields a small entry and a large one. */
function* withLarge(metadata: unknown, toText: (text: string) => string = (text) => text): Iterable<Sent> {
  const entries = chainOf(1);
  entries.push(entryAfter(entries[0] ?? null, { metadata }));
  for (const entry of entries) yield { entry, text: toText(JSON.stringify(entry)) };
}

/** Puts white space between all tokens. */
function spread(entry: SentEntry): string {
  return JSON.stringify(entry, null, 10).replaceAll('\n', `\n${' '.repeat(300)}\r\t`);
}

/** Orders members differently in every entry. */
function turned(entry: SentEntry, index: number): string {
  const members = Object.entries(entry);
  const start = (index * 7) % members.length;
  return JSON.stringify(Object.fromEntries([...members.slice(start), ...members.slice(0, start)]));
}

/** Escapes every character of every text. */
function escaped(entry: SentEntry): string {
  return JSON.stringify(entry).replace(/:"((?:[^"\\]|\\.)*)"/g, (_, text: string) => {
    const units = [...(JSON.parse(`"${text}"`) as string)].map((c) => c.charCodeAt(0).toString(16).padStart(4, '0'));
    return `:"${units.map((unit) => `\\u${unit}`).join('')}"`;
  });
}

/** Spells numbers so that canonicalizing requires parsing them. */
function spelled(entry: SentEntry): string {
  return JSON.stringify(entry).replaceAll('0.5', '500.000E-3').replaceAll('1e-7', '0.00000010000');
}

function* everySecond(items: Iterable<Sent>): Iterable<Sent> {
  let taken = false;
  for (const item of items) {
    taken = !taken;
    if (taken) yield item;
  }
}

function nested(levels: number): string {
  return `${'{"a":['.repeat(levels / 2)}${']}'.repeat(levels / 2)}`;
}

export const HURTFUL: Hurtful[] = [
  { ...USUAL, ...SOUND, name: 'white space everywhere', write: (size) => packed(chain(size, spread)) },
  { ...USUAL, ...SOUND, name: 'another order of members in every entry', write: (size) => packed(chain(size, turned)) },
  { ...USUAL, ...SOUND, name: 'every character escaped', write: (size) => packed(chain(size, escaped)) },
  {
    ...USUAL,
    ...SOUND,
    name: 'numbers in an unusual spelling',
    write: (size) =>
      packed(chain(size, spelled, { metadata: Array.from({ length: 99 }, (_, i) => [0.5, 1e-7][i % 2]) })),
  },
  {
    ...USUAL,
    ...SOUND,
    name: 'what separates entries, in every text',
    write: (size) => packed(chain(size, undefined, { action: DECOY.repeat(20), actor: DECOY })),
  },
  {
    ...USUAL,
    ...SOUND,
    name: 'what looks like entries, inside of entries',
    write: (size) => packed(chain(size, undefined, { metadata: { entries: chainOf(10), of: [chainOf(2)] } })),
  },
  {
    ...USUAL,
    exit: 1,
    findings: ['content/mismatch'],
    name: 'a fault in every second entry',
    write: (size) =>
      packed(chain(size, (entry, i) => JSON.stringify(i % 2 === 0 ? entry : { ...entry, actor: 'another' }))),
  },
  {
    ...USUAL,
    exit: 1,
    findings: ['order/gap'],
    name: 'every second entry missing',
    write: (size) => packed(everySecond(chain(2 * size))),
  },
  {
    ...SOUND,
    sizes: [3 * MB, 12 * MB],
    memory: 8 * 12 * MB,
    name: 'one string',
    write: (size) => packed(withLarge('x'.repeat(size))),
  },
  {
    ...SOUND,
    sizes: [25_000, 100_000],
    memory: 128 * MB,
    name: 'members by the thousand',
    write: (size) =>
      packed(withLarge(Object.fromEntries(Array.from({ length: size }, (_, i) => [`m${(i * 7919) % size}`, i])))),
  },
  {
    exit: 1,
    findings: ['content/ambiguous-json'],
    sizes: [25_000, 100_000],
    memory: 128 * MB,
    name: 'the same member by the thousand',
    write: (size) =>
      packed(withLarge({ m: 1 }, (text) => text.replace('{"m":1}', `{"m":0${',"m":1'.repeat(size - 1)}}`))),
  },
  {
    exit: 3,
    findings: ['package/unreadable'],
    sizes: [25_000, 100_000],
    memory: USUAL.memory,
    name: 'levels by the thousand',
    write: (size) => packed(withLarge('|', (text) => text.replace('"|"', nested(size)))),
  },
  {
    exit: 3,
    findings: ['package/unreadable'],
    name: 'an entry that never ends',
    sizes: [32 * MB, 128 * MB],
    memory: 8 * 64 * MB,
    write: function* (size) {
      yield `${HEAD}"entries":[{"entry_id":"`;
      for (let written = 0; written < size; written += MB) yield 'x'.repeat(MB);
    },
  },
  {
    ...SOUND,
    // The largest permitted number of values beside the entries.
    sizes: [300_000, 1_200_000],
    memory: 64 * MB,
    name: 'what looks like the list of entries, before it',
    write: function* (size) {
      yield `${HEAD}"earlier":[{}`;
      for (let written = 0; written < size; written += DECOYS.length) yield DECOYS;
      yield `],${[...packed(chain(MB))].join('').slice(HEAD.length)}`;
    },
  },
  {
    ...USUAL,
    exit: 3,
    findings: ['contract/drift'],
    name: 'nothing but empty entries',
    write: (size) => [`${HEAD}"entries":[{}${',{}'.repeat(size / 3)}]}`],
  },
];
