import type { Job } from '../../jobs/scheduler.ts';
import type { Sends } from '../../module.ts';
import { Dispatcher } from '../../outgoing/dispatcher.ts';
import type { Issuer } from '../identity/issuer.ts';
import type { AgentServiceMeans } from '../means.ts';
import type { TrustPort } from '../ports.ts';
import { endLeases } from '../vault/leases.ts';
import type { AskPublic } from './asking.ts';
import { KillSwitch } from './kill-switch.ts';
import type { KillMeans } from './means.ts';
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
  { outgoingHosts, ...means }: AgentServiceMeans,
  { trust, issuer, askPublic }: KillPorts,
): OpenKillSwitch {
  const dispatcher = new Dispatcher({ allowed: outgoingHosts });
  const killMeans: KillMeans = { ...means, trust, issuer, dispatcher, endLeases, askPublic };
  const kill = new KillSwitch(killMeans);
  return {
    kill,
    subscribers: new Subscribers(means),
    job: kill.job,
    sends: sendsSecurityEvents(killMeans),
    settled: () => kill.settled(),
  };
}
