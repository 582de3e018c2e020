import { mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openDirectoryArchive } from '../../src/exporter/archive/directory/archive.ts';
import { verifyArchive } from '../../src/verifier/verify/archive.ts';
import { postEntries, type ServedPlatform, servePlatform, someEntries } from './platform.ts';
import { EVIDENCE, finish, startNode } from './process.ts';

/** A platform, with the result of an undisturbed export. */
export class DisturbedExport {
  readonly platform: ServedPlatform;
  readonly undisturbed: Exported & { milliseconds: number };

  static async begin(streams: number): Promise<DisturbedExport> {
    const platform = await servePlatform();
    for (let index = 0; index < streams; index++)
      await postEntries(platform, someEntries(`stream/${index}`, 10 + 20 * index));
    const place = newPlace();
    const began = performance.now();
    expect((await finish(startExport(platform, place))).code).toBe(0);
    const milliseconds = performance.now() - began;
    const exported = await readArchive(place);
    expect(exported.streams).toHaveLength(streams);
    return new DisturbedExport(platform, { ...exported, milliseconds });
  }

  private constructor(platform: ServedPlatform, undisturbed: Exported & { milliseconds: number }) {
    this.platform = platform;
    this.undisturbed = undisturbed;
  }

  start(place: Place): ReturnType<typeof startNode> {
    return startExport(this.platform, place);
  }

  /** Runs the command again: it must end as if undisturbed, and leave nothing in the temporary folder. */
  async expectToEndWell(place: Place, words?: string): Promise<void> {
    const again = await finish(this.start(place));
    expect(again.code, `${words}: ${again.stderr}`).toBe(0);
    const { files, streams } = this.undisturbed;
    expect(await readArchive(place), words).toEqual({ files, streams });
    expect(readdirSync(place.temporary), words).toEqual([]);
  }
}

export interface Place {
  directory: string;
  temporary: string;
}

export function newPlace(): Place {
  const directory = mkdtempSync(join(tmpdir(), 'crash-test-'));
  const temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  return { directory, temporary };
}

function startExport(platform: ServedPlatform, { directory, temporary }: Place) {
  return startNode(EVIDENCE, ['export', '--request', 'AUD-1', '--all-time'], {
    cwd: directory,
    env: { ...platform.env, TMPDIR: temporary },
  });
}

interface Exported {
  files: string[];
  streams: unknown[];
}

/** Verifies the archive. Returns the names of all files, and the run's result for each stream. */
async function readArchive({ directory }: Place): Promise<Exported> {
  const root = join(directory, 'evidence-archive');
  const archive = await openDirectoryArchive(root, { create: false });
  const report = await verifyArchive({
    archive,
    contract: null,
    sealKeys: new Map(),
    roots: null,
    stampRoots: null,
    publicKeys: [],
    now: new Date(),
    workDirectory: directory,
  });
  expect([report.outcome, report.warnings]).toEqual(['verified', []]);
  const run = JSON.parse(readFileSync(join(root, 'runs/AUD-1/run.json'), 'utf8'));
  return {
    files: readdirSync(root, { recursive: true, encoding: 'utf8' }).sort(),
    streams: run.streams.map((stream: Record<string, unknown> & { head: { hash: string } | null }) => [
      stream['stream_id'],
      stream['status'],
      stream['entries'],
      stream.head?.hash,
    ]),
  };
}
