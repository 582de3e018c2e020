/** Epoch in which a stream starts; a rotation starts the next one. */
export const FIRST_EPOCH = 1;

/** Marks of the entry after which another key seals the stream. Only the service writes such an entry. */
export const ROTATED = { action: 'key.rotated', resource_type: 'seal_key' } as const;

export function saysRotated({ action, resource_type }: { action: string; resource_type: string }): boolean {
  return action === ROTATED.action && resource_type === ROTATED.resource_type;
}

/** Characters that look like one of ASCII in most fonts, in small or capital form, by that character. */
const LOOKING_LIKE: Readonly<Record<string, string>> = {
  '/': '\u2044\u2215\u2571\u29f8',
  '-': '\u2010\u2011\u2012\u2013\u2014\u2015\u2212',
  ':': '\u02d0\u2236\ua789',
  a: 'аα',
  b: 'вβ',
  c: 'сϲ',
  d: 'ԁ',
  e: 'еε',
  h: 'нһη',
  i: 'іι',
  j: 'јϳ',
  k: 'кκ',
  l: 'ӏ',
  m: 'мμ',
  n: 'ո',
  o: 'оο',
  p: 'рρ',
  q: 'ԛ',
  s: 'ѕ',
  t: 'тτ',
  u: 'υս',
  v: 'ѵν',
  w: 'ԝω',
  x: 'хχ',
  y: 'уγ',
  z: 'ζ',
};

const PLAIN = new Map(
  Object.entries(LOOKING_LIKE).flatMap(([plain, others]) => [...others].map((each) => [each, plain])),
);

/**
 * Returns a stream id without what readers overlook: the form of its characters, case, blanks, invisible characters,
 * and letters and signs of other scripts. Ids with the same result look alike.
 */
export function plainId(streamId: string): string {
  const visible = streamId.normalize('NFKC').replace(/[\p{White_Space}\p{Default_Ignorable_Code_Point}\p{Cc}]/gu, '');
  // In small letters first, because the capital sharp s has no other capitals.
  const small = visible.toLowerCase().toUpperCase().toLowerCase().normalize('NFKC');
  return small.replace(/[\u0080-\u{10ffff}]/gu, (character) => PLAIN.get(character) ?? character);
}

/** Marks of the entry at which the times of a stream go back. Only the service writes such an entry. */
export const CORRECTED = { action: 'clock.corrected', resource_type: 'clock' } as const;

export function saysCorrected({ action, resource_type }: { action: string; resource_type: string }): boolean {
  return action === CORRECTED.action && resource_type === CORRECTED.resource_type;
}

/**
 * Returns the metadata of an entry that corrects the clock, in the form of RFC 8785.
 * @param now time of that entry. @param previous time of the entry before.
 */
export function correctionText(now: string, previous: string): string {
  return JSON.stringify({ now, previous });
}
