import { expect } from 'vitest';
import type { Acknowledged, Origins, PlatformProcesses } from './processes.ts';
import { recomputeInPython } from './recomputed.ts';
import { call, entry } from './service.ts';

export interface Load {
  writers: number;
  /** Number of entries per writer, sent one after another. */
  each: number;
  /** Number of streams to alternate between: s0, s1, … */
  streams: number;
}

/** Writers that are working on the processes of a platform. */
export interface Writing {
  origins: Origins;
  acknowledged: Acknowledged;
  /** Resolves when all entries are acknowledged. */
  done: Promise<void>;
}

/** @param onHalf called once half of the entries were sent, with requests under way. */
export function write(
  { apiKey }: PlatformProcesses,
  origins: Origins,
  { writers, each, streams }: Load,
  onHalf: () => void = () => {},
): Writing {
  const acknowledged: Acknowledged = new Map();
  let sent = 0;
  const writeOne = async (writer: number) => {
    for (let number = 0; number < each; number++) {
      if (++sent === Math.floor((writers * each) / 2)) onHalf();
      const keyed = { ...entry(`s${number % streams}`, number), idempotency_key: `${writer}/${number}` };
      await origins.append(apiKey, keyed, acknowledged);
    }
  };
  const all = Promise.all(Array.from({ length: writers }, (_, writer) => writeOne(writer)));
  return { origins, acknowledged, done: all.then(() => undefined) };
}

/** Numbers of entries, after all were acknowledged. */
export interface Figures {
  acknowledged: number;
  /** Number of entries in the streams. */
  found: number;
  /** Number of acknowledged entries that are not where their acknowledgment says. */
  lost: number;
  /** Number of entries beyond one for each acknowledgment. */
  doubled: number;
}

/**
 * Expects every acknowledged entry once, in chains that Verify and Python find whole. Each entry was sent under one
 * idempotency key until it was acknowledged.
 */
export async function expectWhole(
  { acknowledged }: Writing,
  { writers, each, streams }: Load,
  at: { origin: string; apiKey: string; dataDir: string; folder: string },
): Promise<Figures> {
  const url = `${at.origin}/audit`;
  const hashes = new Map<string, string>();
  let found = 0;
  for (let stream = 0; stream < streams; stream++) {
    const stream_id = `s${stream}`;
    const verification = await call(url, at.apiKey, 'POST', `/streams/${stream_id}/verify`);
    expect(verification.body).toMatchObject({ verified: true, failures: [] });
    const { body } = await call(url, at.apiKey, 'POST', '/evidence/generate', { stream_id });
    const { text } = await call(url, at.apiKey, 'GET', `/evidence/${body.package_id}/json`);
    for (const { sequence, hash } of JSON.parse(text).entries) hashes.set(`${stream_id} ${sequence}`, hash);
    found += Number(await recomputeInPython(text, at.dataDir, at.folder));
  }
  const places = new Map([...acknowledged.values()].map((told) => [`${told.stream_id} ${told.sequence}`, told.hash]));
  const kept = [...places].filter(([place, hash]) => hashes.get(place) === hash).length;
  const figures = {
    acknowledged: acknowledged.size,
    found,
    lost: acknowledged.size - kept,
    doubled: found - kept,
  };
  expect(figures).toEqual({ acknowledged: writers * each, found: writers * each, lost: 0, doubled: 0 });
  return figures;
}
