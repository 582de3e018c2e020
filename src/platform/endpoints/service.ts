import type { PageQuery } from '../http/fields.ts';
import { Bait } from './bait/planting.ts';
import { BaitProtocol } from './bait/protocol.ts';
import { Baselines } from './baselines.ts';
import { Changes } from './changes.ts';
import type { BaitDeps } from './deps.ts';
import { EndpointEvents } from './events.ts';
import { readEndpointStats } from './host-wire.ts';
import { Hosts } from './hosts.ts';
import { listArchives } from './packages/repository.ts';
import { Reports } from './reports.ts';
import { SensorProtocol } from './sensor-protocol.ts';
import { EndpointVerification } from './verifying.ts';
import { ChangeWindows } from './windows.ts';

/** Parts of the service, for its routes and pages. */
export type EndpointService = ReturnType<typeof assembleEndpoints>;

export function assembleEndpoints(deps: BaitDeps) {
  return {
    hosts: new Hosts(deps),
    sensors: new SensorProtocol(deps),
    bait: new Bait(deps),
    baitProtocol: new BaitProtocol(deps),
    reports: new Reports(deps),
    baselines: new Baselines(deps),
    events: new EndpointEvents(deps),
    changes: new Changes(deps),
    windows: new ChangeWindows(deps),
    verifying: new EndpointVerification(deps),
    archives: (page: PageQuery) => listArchives(deps.database, page),
    stats: () => readEndpointStats(deps.database, deps.clock()),
  };
}
