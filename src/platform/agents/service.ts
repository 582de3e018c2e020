import type { Sends } from '../jobs/delivery.ts';
import type { Job } from '../jobs/scheduler.ts';
import type { SecretBox } from '../secrets.ts';
import type { VaultTraps } from '../traps/api.ts';
import { Actions } from './actions/actions.ts';
import { Agents } from './agents.ts';
import type { AgentServiceDeps } from './deps.ts';
import { Issuer } from './identity/issuer.ts';
import { type AskPublic, askAsStranger } from './kill/asking.ts';
import type { KillSwitch } from './kill/kill-switch.ts';
import { openKillSwitch } from './kill/open.ts';
import type { Subscribers } from './kill/subscribers.ts';
import { Lately } from './lately.ts';
import { Onboarding } from './onboarding.ts';
import type { OwnQuestions } from './own-questions.ts';
import { PublicAgents } from './public/public-agents.ts';
import { readAgentStats } from './stats.ts';
import { trustJob } from './trust/job.ts';
import { TrustScores } from './trust/scores.ts';
import { TrustWriter } from './trust/writer.ts';
import { Vaults } from './vault/vaults.ts';
import type { AgentStats } from './wire/stats.ts';

/** Everything that the routes and pages of agents call. */
export interface AgentService {
  agents: Agents;
  onboarding: Onboarding;
  actions: Actions;
  trust: TrustScores;
  kill: KillSwitch;
  subscribers: Subscribers;
  vault: Vaults;
  public: PublicAgents;
  lately: Lately;
  stats(): Promise<AgentStats>;
}

/** The service of agents, with what it does besides answering. */
export interface OpenAgents {
  service: AgentService;
  jobs: readonly Job[];
  /** Security Event Tokens. */
  sends: Sends;
  start(): Promise<void>;
  settled(): Promise<void>;
}

export interface AgentKeeping {
  /** Keeps the platform's own keys: `agents/authorities`. */
  authorityBox: SecretBox;
  /** Keeps the keys of vaults: `agents/vaults`. */
  vaultBox: SecretBox;
  vaultTraps: VaultTraps;
  /** Marks the platform's own questions. */
  ownQuestions: OwnQuestions;
  /** Asks for the kill switch if an agent is valid; by default over HTTP, as strangers do. */
  askPublic?: AskPublic;
}

export function assembleAgents(deps: AgentServiceDeps, keeping: AgentKeeping): OpenAgents {
  const { database, clock } = deps;
  const { authorityBox, vaultBox, vaultTraps, ownQuestions } = keeping;
  const issuer = new Issuer(deps, authorityBox);
  const verificationUrl = (agentId: string) => issuer.published.addresses().verification(agentId);
  const { askPublic = askAsStranger(verificationUrl, ownQuestions) } = keeping;
  const trust = new TrustWriter(deps, issuer);
  const vaults = new Vaults(deps, vaultBox, trust, vaultTraps);
  const killSwitch = openKillSwitch(deps, { trust: trust, issuer, askPublic });
  const actions = new Actions({ ...deps, trust, issuer, vaults });
  return {
    service: {
      agents: new Agents(deps, { trust: trust, issuer }),
      onboarding: new Onboarding(deps, { issuer, trust: trust, vaults }),
      actions,
      trust: new TrustScores(deps),
      kill: killSwitch.kill,
      subscribers: killSwitch.subscribers,
      vault: vaults,
      public: new PublicAgents(deps, issuer.published),
      lately: new Lately(database),
      stats: () => readAgentStats(database, clock()),
    },
    jobs: [trustJob(deps, trust), killSwitch.job, authorityJob(issuer)],
    sends: killSwitch.sends,
    start: () => issuer.start(),
    async settled() {
      await actions.settled();
      await killSwitch.settled();
    },
  };
}

const DAY_MS = 24 * 60 * 60_000;

/** Makes the next keys of the platform before those it has end. */
function authorityJob(issuer: Issuer): Job {
  return { name: 'agents/authorities', everyMs: DAY_MS, atMostMs: DAY_MS, run: () => issuer.start() };
}
