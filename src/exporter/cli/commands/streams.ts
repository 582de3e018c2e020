import { fitTable } from '../../../core/terminal/table.ts';
import { grouped } from '../../../core/words.ts';
import { readNewestEntry } from '../../../verifier/ledger/ledger.ts';
import type { StreamAnswer } from '../../../verifier/profile/answers.ts';
import type { LedgerHead } from '../../../verifier/records/record.ts';
import type { CommandContext } from '../command.ts';
import { withArchiveIfAny } from '../config/archives.ts';
import { type Config, loadConfig } from '../config/config.ts';
import { connectService } from '../config/service.ts';
import type { StreamsFlags } from './streams-flags.ts';

/** The service's streams, as it states them, and how far each was exported. */
export async function runStreams(flags: StreamsFlags, context: CommandContext): Promise<number> {
  const { printer, signal, directory, environment } = context;
  const config = await loadConfig(flags, environment, directory);
  const service = connectService(config.source, printer, signal);
  try {
    const heads = new Map(Object.entries(await readHeads(config, context)));
    const streams: StreamAnswer[] = [];
    for await (const stream of service.client.listStreams()) streams.push(stream);
    printer.document('evidence-streams/1', {
      streams: streams.map((stream) => ({
        stream_id: stream.streamId,
        entry_count: stream.entryCount,
        head_sequence: stream.headSequence,
        head_hash: stream.headDigest,
        verified: stream.verified,
        last_checked_at: stream.lastCheckedAt,
        drift: stream.drift,
        last_exported: heads.get(stream.streamId) ?? null,
      })),
    });
    printer.block(streams.length === 0 ? 'The service has no streams.' : format(streams, heads));
    return streams.length === 0 ? 4 : 0;
  } finally {
    await service.close();
  }
}

function readHeads(config: Config, context: CommandContext): Promise<Record<string, LedgerHead>> {
  return withArchiveIfAny(config.archive, context, async (archive) => {
    const newest = archive === null ? null : await readNewestEntry(archive);
    return newest?.entry.heads ?? {};
  });
}

function format(streams: readonly StreamAnswer[], heads: ReadonlyMap<string, LedgerHead>): string {
  return fitTable(
    [
      { title: 'stream' },
      { title: 'entries', align: 'right' },
      { title: 'the service says' },
      { title: 'last checked' },
      { title: 'head' },
      { title: 'last exported' },
    ],
    streams.map((stream) => {
      const exported = heads.get(stream.streamId);
      return [
        stream.streamId,
        stream.entryCount == null ? UNKNOWN : grouped(stream.entryCount),
        stream.drift ?? VERDICTS[String(stream.verified) as keyof typeof VERDICTS],
        stream.lastCheckedAt ?? (stream.verified === null ? UNKNOWN : 'never'),
        describeHead(stream),
        exported === undefined ? 'never' : `${exported.run_id}, up to ${exported.sequence}`,
      ];
    }),
  );
}

/** What the service does not show. */
const UNKNOWN = '–';
const VERDICTS = { true: 'verified', false: 'not verified', null: UNKNOWN } as const;

function describeHead({ headSequence, headDigest }: StreamAnswer): string {
  if (headSequence === null && headDigest === null) return UNKNOWN;
  if (headDigest === null) return headSequence === 0 ? 'none' : String(headSequence);
  return `${headSequence ?? ''}:${headDigest.slice(0, 12)}…`;
}
