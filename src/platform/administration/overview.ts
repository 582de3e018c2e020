import { markup, name } from '../../core/html/markup.ts';
import type { TimelineEvent } from '../web/overview.ts';
import type { AdministrationService } from './service.ts';

const MOST = 30;

/** The newest administrative acts, for the time line of all services. */
export async function recentActs(service: AdministrationService): Promise<TimelineEvent[]> {
  const { data } = await service.acts({ limit: MOST });
  return data.map(({ timestamp, actor, action, resource_type, resource_id }) => ({
    at: timestamp,
    tone: 'neutral',
    words: markup`<code>${name(action)}</code> ${name(resource_type)} <code>${name(short(resource_id))}</code>, by <code>${name(short(actor))}</code>`,
  }));
}

/** An id is told apart from others by its beginning; the page of the administration has all of it. */
function short(id: string): string {
  return id.replace(/([0-9a-f]{8})-[0-9a-f-]{27}$/, '$1…');
}
