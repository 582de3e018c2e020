import { formFile } from '../../verifier/bundle/files.ts';
import { openBundle } from '../../verifier/bundle/read.ts';
import { PackageReader } from '../../verifier/chain/package.ts';
import type { StreamRecord } from '../../verifier/records/record.ts';
import type { Unbound } from '../../verifier/records/stored-object.ts';
import type { NotedStreams } from '../../verifier/verify/noted-streams.ts';
import type { ExportContext } from './context.ts';
import { observersOf } from './entry-observers.ts';
import { notOurs } from './records.ts';
import { withFetched } from './recover.ts';

/**
 * Notes the entries that bear on records in streams that this export did not read, or not by themselves: from their bundles,
 * as they are stored. An encrypted one stays unread.
 */
export async function readBackStreams(
  context: ExportContext,
  notes: NotedStreams,
  streams: Iterable<Unbound<StreamRecord>>,
): Promise<void> {
  for (const record of streams) {
    const { stream_id: streamId, bundle } = record;
    if (!notes.wants(streamId) || bundle.encrypted !== undefined || notes.of(streamId) !== null) continue;
    context.runtime.signal.throwIfAborted();
    await readBack(context, notes, record);
  }
}

async function readBack(
  context: ExportContext,
  notes: NotedStreams,
  { stream_id: streamId, bundle: { key, sha256 } }: Unbound<StreamRecord>,
): Promise<void> {
  await withFetched(context, key, async (fetched) => {
    if (fetched.sha256 !== sha256) throw notOurs(key, 'it is not the bundle that was recorded');
    const bundle = await openBundle(fetched.file, {}, key);
    try {
      const paths = bundle.entries.map(({ path }) => path);
      const path = formFile('json', paths);
      const observers = observersOf(notes.begin(streamId), null);
      if (path === undefined) return;
      using reader = new PackageReader(context.service.contract, new Map(), { streamId, ...observers });
      for await (const block of bundle.blocksOf(path)) reader.push(block);
      reader.finish();
    } finally {
      await bundle.close();
    }
  });
}
