import { EvidenceError } from '../../core/errors.ts';
import type { PlatformCaller } from './caller.ts';

/**
 * Checks every stream, and timestamps its head.
 * @returns the number of streams. @throws EvidenceError `service` if a stream fails its check.
 */
export async function checkStreams(caller: PlatformCaller): Promise<number> {
  const ids = await streamIds(caller);
  for (const id of ids) {
    const stream = `/audit/streams/${encodeURIComponent(id)}`;
    const { verified } = await caller.post<{ verified: boolean }>(`${stream}/verify`);
    if (!verified) throw new EvidenceError('service', `the platform finds something wrong with the stream "${id}"`);
    await caller.post(`${stream}/checkpoints`);
  }
  return ids.length;
}

async function streamIds(caller: PlatformCaller): Promise<string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const query: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
    const page: Page = await caller.get<Page>(`/audit/streams/?limit=500${query}`);
    ids.push(...page.data.map(({ stream_id }) => stream_id));
    cursor = page.next_cursor;
  }
  return ids;
}

interface Page {
  data: { stream_id: string }[];
  next_cursor: string | null;
}
