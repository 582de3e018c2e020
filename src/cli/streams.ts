import type { WireStream } from '../contract/default.ts';
import { type LedgerHead, readNewestEntry } from '../ledger/ledger.ts';
import type { CommandContext } from './command.ts';
import { type Config, loadConfig } from './config.ts';
import type { StreamsFlags } from './flags.ts';
import { connectService } from './service.ts';
import { openArchive } from './store.ts';
import { formatTable } from './table.ts';

/** The service's streams, as it states them, and how far each was exported. */
export async function runStreams(flags: StreamsFlags, context: CommandContext): Promise<number> {
  const { printer, signal, directory, environment } = context;
  const config = loadConfig(flags, environment, directory);
  const service = connectService(config, printer, signal);
  try {
    const heads = new Map(Object.entries(await readHeads(config, directory)));
    const streams: WireStream[] = [];
    for await (const stream of service.client.listStreams()) streams.push(stream);
    printer.document({
      streams: streams.map((stream) => ({ ...stream, last_exported: heads.get(stream.stream_id) ?? null })),
    });
    printer.result(streams.length === 0 ? 'The service has no streams.' : format(streams, heads));
    return streams.length === 0 ? 4 : 0;
  } finally {
    await service.close();
  }
}

async function readHeads(config: Config, directory: string): Promise<Record<string, LedgerHead>> {
  const archive = await openArchive(config.archiveUrl, directory, false);
  if (archive === null) return {};
  try {
    return (await readNewestEntry(archive))?.entry.heads ?? {};
  } finally {
    await archive.close();
  }
}

function format(streams: readonly WireStream[], heads: ReadonlyMap<string, LedgerHead>): string {
  return formatTable(
    [
      { title: 'stream', max: 48 },
      { title: 'entries', align: 'right' },
      { title: 'the service says' },
      { title: 'last checked' },
      { title: 'head' },
      { title: 'last exported' },
    ],
    streams.map((stream) => {
      const exported = heads.get(stream.stream_id);
      return [
        stream.stream_id,
        stream.entry_count.toLocaleString('en'),
        stream.verification_status,
        stream.last_checked_at ?? 'never',
        stream.head_hash === null ? 'none' : `${stream.head_sequence}:${stream.head_hash.slice(0, 12)}…`,
        exported === undefined ? 'never' : `${exported.run_id}, up to ${exported.sequence}`,
      ];
    }),
  );
}
