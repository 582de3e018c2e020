import { createHash } from 'node:crypto';
import type { StreamSample } from '../../src/probe/roles/chain.ts';
import {
  type Ask,
  type Sample,
  type SampleAnswer,
  type SampleRequest,
  toSample,
} from '../../src/probe/sample/sample.ts';

/** Returns hex SHA-256, computed without the code under test. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function samplesOf(values: readonly object[]): Sample[] {
  return values.map((value) => toSample(JSON.stringify(value)));
}

export function streamOf(streamId: string, values: readonly object[], isWhole = true): StreamSample {
  return { streamId, entries: samplesOf(values), isWhole };
}

export interface PlainEntry {
  stream: string;
  n: number;
  at: string;
  who: string;
  data: object;
  before: string;
  digest: string;
}

/** Returns entries whose digest `make` computes over all their other members. */
export function chainOf(
  stream: string,
  length: number,
  make: (entry: Omit<PlainEntry, 'digest'>) => string = (entry) => sha256(JSON.stringify(entry)),
): PlainEntry[] {
  const entries: PlainEntry[] = [];
  for (let n = 1; n <= length; n++) {
    const open = {
      stream,
      n,
      at: new Date(Date.UTC(2026, 9, 1, 0, n)).toISOString(),
      who: n % 2 === 0 ? 'Zoë' : 'svc',
      data: { z: n, a: [n, 'é', 0.5] },
      before: entries.at(-1)?.digest ?? '0'.repeat(64),
    };
    entries.push({ ...open, digest: make(open) });
  }
  return entries;
}

export function answerOf(value: unknown, more: Partial<SampleAnswer> = {}): SampleAnswer {
  return { status: 200, text: JSON.stringify(value), link: null, error: null, ...more };
}

export const NOT_FOUND = answerOf({ detail: 'Not Found' }, { status: 404 });

export interface AskedService {
  ask: Ask;
  questions: SampleRequest[];
}

/** Answers requests by path and query, and records them. */
export function serviceOf(
  answer: (path: string, query: URLSearchParams, question: SampleRequest) => SampleAnswer,
): AskedService {
  const questions: SampleRequest[] = [];
  const ask: Ask = async (question) => {
    questions.push(question);
    const base = `http://service${question.from ?? ''}`;
    const url = new URL(question.url, base);
    for (const [name, value] of Object.entries(question.query ?? {})) url.searchParams.set(name, value);
    return answer(url.pathname, url.searchParams, question);
  };
  return { ask, questions };
}
