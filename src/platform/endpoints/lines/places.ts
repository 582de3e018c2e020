import { sql } from 'kysely';
import { type EndpointLine, pathBytes } from '../../../sensor/report/line.ts';
import type { Reader } from '../../database/database.ts';
import type { EndpointTables } from '../tables.ts';
import { textsOfChunk } from './line-sets.ts';

/** Counts the endpoints with a path in their active baseline. Only the chunks that could have it are read. */
export async function endpointsWithPath(reader: Reader, path: Buffer): Promise<number> {
  const tables = reader.tables<EndpointTables>();
  const near = await tables
    .selectFrom('line_chunks')
    .select('chunk_no')
    .where('first_path', '<=', path)
    .where('last_path', '>=', path)
    .execute();
  const having: number[] = [];
  for (const { chunk_no } of near) if (await hasPath(reader, chunk_no, path)) having.push(chunk_no);
  if (having.length === 0) return 0;
  const { count } = await tables
    .selectFrom('endpoints')
    .innerJoin('baselines', 'baselines.baseline_no', 'endpoints.baseline_no')
    .innerJoin('line_set_chunks', 'line_set_chunks.set_no', 'baselines.set_no')
    .where('chunk_no', 'in', having)
    .select(sql<number>`COUNT(*)`.as('count'))
    .executeTakeFirstOrThrow();
  return Number(count);
}

async function hasPath(reader: Reader, chunkNo: number, path: Buffer): Promise<boolean> {
  const texts = await textsOfChunk(reader, chunkNo);
  return texts.some((text) => pathBytes(JSON.parse(text) as EndpointLine).equals(path));
}
