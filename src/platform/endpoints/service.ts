import type { PageQuery } from '../http/fields.ts';
import { AgentDesk } from './agents.ts';
import { BaitDesk } from './bait/desk.ts';
import { Bait } from './bait/planting.ts';
import { Baselines } from './baselines.ts';
import { Changes } from './changes.ts';
import { EndpointEvents } from './events.ts';
import { Hosts } from './hosts.ts';
import type { BaitMeans } from './means.ts';
import { listArchives } from './packages/archives.ts';
import { Reports } from './reports.ts';
import type { EndpointStats } from './requests/verification.ts';
import { readEndpointStats } from './stats.ts';
import { EndpointVerification } from './verifying.ts';
import { ChangeWindows } from './windows.ts';

/** Everything that the routes and pages of endpoints call. */
// Over ten members: it is the list of them.
export interface EndpointService {
  hosts: Hosts;
  agents: AgentDesk;
  bait: Bait;
  baitDesk: BaitDesk;
  reports: Reports;
  baselines: Baselines;
  events: EndpointEvents;
  changes: Changes;
  windows: ChangeWindows;
  verifying: EndpointVerification;
  archives(page: PageQuery): ReturnType<typeof listArchives>;
  stats(): Promise<EndpointStats>;
}

export function assembleEndpoints(means: BaitMeans): EndpointService {
  return {
    hosts: new Hosts(means),
    agents: new AgentDesk(means),
    bait: new Bait(means),
    baitDesk: new BaitDesk(means),
    reports: new Reports(means),
    baselines: new Baselines(means),
    events: new EndpointEvents(means),
    changes: new Changes(means),
    windows: new ChangeWindows(means),
    verifying: new EndpointVerification(means),
    archives: (page) => listArchives(means.database, page),
    stats: () => readEndpointStats(means.database, means.clock()),
  };
}
