import type { People } from '../../accounts/api.ts';
import type { OverviewOfModule } from '../../web/overview.ts';
import type { AdministrationService } from '../service.ts';
import { actLine, peopleIn } from './act-table.ts';

const MOST = 30;

/** Returns the newest administrative acts, for the timeline of all services. */
export async function recentActs(
  service: AdministrationService,
  people: Pick<People, 'namesOf'>,
): Promise<OverviewOfModule> {
  const { data } = await service.acts({ limit: MOST });
  const names = await people.namesOf(peopleIn(data));
  const events = data.map((act) => ({ at: act.timestamp, tone: 'neutral' as const, words: actLine(act, names) }));
  return { tile: null, events };
}
