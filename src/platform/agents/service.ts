import type { Job } from '../jobs/scheduler.ts';
import { Dispatcher } from '../outgoing/dispatcher.ts';
import type { SecretBox } from '../secrets.ts';
import type { VaultTraps } from '../traps/api.ts';
import { Actions } from './actions/actions.ts';
import { Agents } from './agents.ts';
import type { AgentServiceDeps, KillDeps } from './deps.ts';
import { Issuer } from './identity/issuer.ts';
import { type AskPublic, askAsStranger, type OwnQuestions } from './kill/asking.ts';
import { KillSwitch } from './kill/kill-switch.ts';
import { Subscribers, sendsSecurityEvents } from './kill/subscribers.ts';
import { Onboarding } from './onboarding.ts';
import { Lately, readAgentStats } from './overview.ts';
import { TrustWriter, trustJob } from './trust/families.ts';
import { TrustScores } from './trust/scores.ts';
import { Vaults } from './vault/vaults.ts';

/** Agent service, with its background work and its senders of Security Event Tokens. */
export type OpenAgents = ReturnType<typeof assembleAgents>;

/** Parts of the service, for its routes and pages. */
export type AgentService = OpenAgents['service'];

interface AgentKeeping {
  /** Seals the platform's own keys: `agents/authorities`. */
  authorityBox: SecretBox;
  /** Seals the keys of vaults: `agents/vaults`. */
  vaultBox: SecretBox;
  vaultTraps: VaultTraps;
  /** Marks the platform's own requests to public verification. */
  ownQuestions: OwnQuestions;
  /** Requests for the kill switch whether an agent is valid; by default over HTTP, as strangers do. */
  askPublic?: AskPublic;
}

export function assembleAgents(deps: AgentServiceDeps, keeping: AgentKeeping) {
  const { database, clock } = deps;
  const { authorityBox, vaultBox, vaultTraps, ownQuestions } = keeping;
  const issuer = new Issuer(deps, authorityBox);
  const verificationUrl = (agentId: string) => issuer.published.addresses().verification(agentId);
  const { askPublic = askAsStranger(verificationUrl, ownQuestions) } = keeping;
  const trust = new TrustWriter(deps, issuer);
  const vaults = new Vaults(deps, vaultBox, trust, vaultTraps);
  const dispatcher = new Dispatcher({ allowed: deps.outgoingHosts });
  const killDeps: KillDeps = { ...deps, trust, issuer, dispatcher, askPublic };
  const kill = new KillSwitch(killDeps);
  const actions = new Actions({ ...deps, trust, issuer, vaults });
  return {
    service: {
      agents: new Agents(deps, { trust, issuer }),
      onboarding: new Onboarding(deps, { issuer, trust, vaults }),
      actions,
      trust: new TrustScores(deps),
      kill,
      subscribers: new Subscribers(deps),
      vault: vaults,
      public: issuer.published,
      lately: new Lately(database),
      stats: () => readAgentStats(database, clock()),
    },
    jobs: [trustJob(deps, trust), kill.job, authorityJob(issuer)],
    sends: sendsSecurityEvents(killDeps),
    start: () => issuer.start(),
    async settled() {
      await actions.settled();
      await kill.settled();
    },
  };
}

const DAY_MS = 24 * 60 * 60_000;

/** Returns the job that creates the platform's next keys before the current ones expire. */
function authorityJob(issuer: Issuer): Job {
  return { name: 'agents/authorities', everyMs: DAY_MS, atMostMs: DAY_MS, run: () => issuer.start() };
}
