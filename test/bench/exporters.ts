import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type NewEntry, postEntries, type ServedPlatform, someEntries } from '../support/platform.ts';
import type { Bench } from './bench.ts';
import type { Figures, Program } from './program.ts';
import { HERE } from './programs.ts';
import type { Service } from './recording.ts';
import { readVerdict } from './verifiers.ts';

/** Concurrent batches. */
const WRITERS = 4;

/** Serves a platform with streams of this length, imported over HTTP. */
export async function serveStreams(bench: Bench, streams: number, entries: number): Promise<ServedPlatform> {
  bench.options.log(`importing ${streams.toLocaleString('en')} streams of ${entries.toLocaleString('en')} entries`);
  const platform = await bench.servePlatform();
  await importStreams(platform, streams, entries);
  return platform;
}

async function importStreams(platform: ServedPlatform, streams: number, entries: number): Promise<void> {
  let next = 0;
  const write = async () => {
    // The number of whole streams that fill a batch.
    const together = Math.max(1, Math.floor(1000 / entries));
    while (next < streams) {
      const batch: NewEntry[] = [];
      for (const end = Math.min(streams, next + together); next < end; next++)
        batch.push(...someEntries(`team ${next % 7}/stream-${next}`, entries));
      await postEntries(platform, batch);
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, write));
}

export interface ExportWork {
  service: Service;
  streams: number;
  entries: number;
}

/** Services for measuring exports; a platform shares the cores with the export. */
export const SERVED_BY = { recorded: 'of a recorded service', platform: 'of our platform on the same cores' } as const;

/** Exports into a new archive with `evidence export`. */
export function exportProgram(bench: Bench, { service, streams, entries }: ExportWork): Program {
  const archive = join(bench.folder, 'archive');
  return {
    command: [
      process.execPath,
      bench.programs.evidence,
      'export',
      '--all-time',
      '--archive',
      archive,
      '--json',
      '--quiet',
    ],
    env: service.env,
    before: () => rmSync(archive, { recursive: true, force: true }),
    check: (stdout) => {
      const run = JSON.parse(stdout) as { outcome: string; streams: { entries: number }[] };
      const counts = run.streams.map((stream) => stream.entries);
      if (run.outcome !== 'verified') throw new Error(`the export is ${run.outcome}`);
      mustBeAll(counts, streams, entries);
    },
  };
}

/** Exports the first `streams` streams with peer-export.sh, `parallel` at a time. */
export function peerExportProgram(bench: Bench, { service, streams, entries }: ExportWork, parallel: number): Program {
  const folder = join(bench.folder, 'peer-archive');
  return {
    command: ['bash', join(HERE, 'peer-export.sh'), service.auditUrl, folder],
    env: { EVIDENCE_API_KEY: service.apiKey, P: String(parallel), MOST: String(streams) },
    before: () => rmSync(folder, { recursive: true, force: true }),
    check: (stdout) => {
      const verdicts = stdout.trim().split('\n').map(readVerdict);
      if (verdicts.some(({ bad }) => bad > 0)) throw new Error('the peer found bad entries');
      mustBeAll(
        verdicts.map((verdict) => verdict.entries),
        streams,
        entries,
      );
      const packed = readdirSync(folder).length;
      if (packed !== streams) throw new Error(`the peer packed ${packed} streams of ${streams}`);
    },
  };
}

function mustBeAll(counts: readonly number[], streams: number, entries: number): void {
  if (counts.length !== streams || counts.some((count) => count !== entries))
    throw new Error(
      `${counts.length} streams of ${[...new Set(counts)].join(', ')} entries, not ${streams} of ${entries}`,
    );
}

/** Returns the peer's better figures. */
export function fasterPeer(figures: Record<'peer P=1' | 'peer P=4', Figures>): Figures & { name: string } {
  const name = figures['peer P=1'].seconds < figures['peer P=4'].seconds ? 'peer P=1' : 'peer P=4';
  return { name, ...figures[name] };
}
