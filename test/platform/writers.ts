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

/**
 * Expects every acknowledged entry once, in chains that Verify and Python find whole. Each entry was sent under one
 * idempotency key until it was acknowledged.
 */
export async function expectWhole(
  { acknowledged }: Writing,
  { writers, each, streams }: Load,
  at: { origin: string; apiKey: string; dataDir: string; folder: string },
): Promise<void> {
  const url = `${at.origin}/audit`;
  const places = new Set([...acknowledged.values()].map(({ stream_id, sequence }) => `${stream_id} ${sequence}`));
  expect([acknowledged.size, places.size]).toEqual([writers * each, writers * each]);
  let entries = 0;
  for (let stream = 0; stream < streams; stream++) {
    const stream_id = `s${stream}`;
    const verification = await call(url, at.apiKey, 'POST', `/streams/${stream_id}/verify`);
    expect(verification.body).toMatchObject({ verified: true, failures: [] });
    const { body } = await call(url, at.apiKey, 'POST', '/evidence/generate', { stream_id });
    const { text } = await call(url, at.apiKey, 'GET', `/evidence/${body.package_id}/json`);
    const hashes = new Map<number, string>(
      JSON.parse(text).entries.map(({ sequence, hash }: { sequence: number; hash: string }) => [sequence, hash]),
    );
    for (const told of acknowledged.values())
      if (told.stream_id === stream_id) expect(hashes.get(told.sequence)).toBe(told.hash);
    entries += Number(await recomputeInPython(text, at.dataDir, at.folder));
  }
  expect(entries).toBe(writers * each);
}
