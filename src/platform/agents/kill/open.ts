import type { Sends } from '../../jobs/delivery.ts';
import type { Job } from '../../jobs/scheduler.ts';
import { Dispatcher } from '../../outgoing/dispatcher.ts';
import type { AgentServiceDeps } from '../deps.ts';
import type { Issuer } from '../identity/issuer.ts';
import type { TrustPort } from '../ports.ts';
import { endLeases } from '../vault/leases.ts';
import type { AskPublic } from './asking.ts';
import type { KillDeps } from './deps.ts';
import { KillSwitch } from './kill-switch.ts';
import { sendsSecurityEvents } from './security-events.ts';
import { Subscribers } from './subscribers.ts';

/** The kill switch, and all that belongs to it. */
export interface OpenKillSwitch {
  kill: KillSwitch;
  subscribers: Subscribers;
  job: Job;
  sends: Sends;
  settled(): Promise<void>;
}

export interface KillPorts {
  trust: TrustPort;
  issuer: Pick<Issuer, 'signSecurityEvent'>;
  askPublic: AskPublic;
}

export function openKillSwitch(
  { outgoingHosts, ...deps }: AgentServiceDeps,
  { trust, issuer, askPublic }: KillPorts,
): OpenKillSwitch {
  const dispatcher = new Dispatcher({ allowed: outgoingHosts });
  const killDeps: KillDeps = { ...deps, trust, issuer, dispatcher, endLeases, askPublic };
  const kill = new KillSwitch(killDeps);
  return {
    kill,
    subscribers: new Subscribers(deps),
    job: kill.job,
    sends: sendsSecurityEvents(killDeps),
    settled: () => kill.settled(),
  };
}
