import type { OverviewOfModule } from '../../web/overview.ts';
import type { AdministrationService } from '../service.ts';
import { actLine, referencesIn } from './act-table.ts';
import { type NameSources, Names } from './names.ts';

const MOST = 30;

/** Returns the newest administrative acts, for the timeline of all services. */
export async function recentActs(service: AdministrationService, sources: NameSources): Promise<OverviewOfModule> {
  const { data } = await service.acts({ limit: MOST });
  const names = await Names.read(sources, referencesIn(data));
  const events = data.map((act) => ({ at: act.timestamp, tone: 'neutral' as const, words: actLine(act, names) }));
  return { tile: null, events };
}
