export type StatedFact = 'package' | 'stream' | 'count' | 'head';

/** A label of a fact, as a PDF writes it beside or above the value. */
export interface Label {
  fact: StatedFact;
  words: string;
  /** It says that an id follows, by a colon or by a word: no heading does. */
  isExplicit: boolean;
  /** In letters of one script. */
  isPlain: boolean;
}

const LABELS: Record<StatedFact, RegExp> = {
  package: /^(?:evidence )?package( id| identifier| number| no\.?)?$/,
  stream: /^(?:audit |log )?stream( id| identifier| name)?$/,
  count:
    /^(?:(?:total |package )?entries|entry count|(?:total )?(?:number|count|no\.?) of entries|entries (?:total|in (?:this |the )?package))$/,
  head: /^(?:chain |stream |package )?head(?: hash| digest)?$/,
};
const FACTS: readonly StatedFact[] = ['package', 'stream', 'count', 'head'];

export const MAX_LABEL_WORDS = 5;

/** Letters of other scripts that look like ours, in the order of `LATIN`. */
const ALIKE = 'ΑΒΕΗΙΚΜΝΟΡΤΥΧΖοАВЕКМНОРСТХаеорсухіѕԁһ';
const LATIN = 'ABEHIKMNOPTYXZoABEKMHOPCTXaeopcyxisdh';

/** Null for what is no label of a fact. */
export function toLabel(text: string): Label | null {
  const latin = text.replace(/\P{ASCII}/gu, (letter) => LATIN[ALIKE.indexOf(letter)] ?? letter.normalize('NFKC'));
  const words = latin
    .replace(/\s*[:=]$/, '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase();
  for (const fact of FACTS) {
    const match = LABELS[fact].exec(words);
    if (match === null) continue;
    const isExplicit = match[1] !== undefined || /[:=]$/.test(latin);
    return { fact, words, isExplicit, isPlain: latin === text };
  }
  return null;
}

/** Its value is an id. */
export function isId(fact: StatedFact): boolean {
  return fact === 'package' || fact === 'stream';
}

export function startsWithLabel(text: string): boolean {
  const words = text.slice(0, 60).split(/(?<=[:=])|\s/, MAX_LABEL_WORDS);
  return words.some((_, index) => toLabel(words.slice(0, index + 1).join(' ')) !== null);
}
