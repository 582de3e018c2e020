import { EvidenceError } from '../../core/errors.ts';
import type { PlatformCaller } from './caller.ts';

/**
 * Has the service check every stream, and time-stamp its head.
 * @returns how many there are. @throws EvidenceError `service` for one in which something is wrong.
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
