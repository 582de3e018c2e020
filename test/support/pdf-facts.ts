import type { StatedFact } from '../../src/verifier/pdf-text/labels.ts';
import type { PdfFacts } from '../../src/verifier/pdf-text/pdf.ts';

/** The values that are plain to see and to understand, each once: a count as its digits, a digest with its lines joined. */
export function plainFacts({ statements }: PdfFacts): Partial<Record<StatedFact, string[]>> {
  const facts: Partial<Record<StatedFact, string[]>> = {};
  for (const { fact, texts, isPlain, unseen } of statements) {
    if (!isPlain || unseen !== null) continue;
    const value = fact === 'head' ? toDigest(texts) : (texts[0] ?? '');
    const plain = fact === 'count' ? value.replace(/\D/g, '') : value;
    const values = facts[fact] ?? [];
    facts[fact] = values.includes(plain) ? values : [...values, plain];
  }
  return facts;
}

function toDigest(texts: string[]): string {
  const joined = texts.map((_, index) =>
    texts
      .slice(0, index + 1)
      .join('')
      .replaceAll(' ', '')
      .toLowerCase(),
  );
  return joined.find((text) => /^(?:sha-256)?[0-9a-f]{64}$/.test(text))?.slice(-64) ?? texts[0] ?? '';
}
