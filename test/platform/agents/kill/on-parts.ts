import type { KillDeps } from '../../../../src/platform/agents/deps.ts';
import { Issuer } from '../../../../src/platform/agents/identity/issuer.ts';
import { KillSwitch } from '../../../../src/platform/agents/kill/kill-switch.ts';
import { type KillStep, killSteps } from '../../../../src/platform/agents/kill/steps.ts';
import { TRUST_TIMES } from '../../../../src/platform/agents/settings.ts';
import { TrustWriter } from '../../../../src/platform/agents/trust/families.ts';
import { Dispatcher } from '../../../../src/platform/outgoing/dispatcher.ts';
import type { Parts } from '../../../../src/platform/parts.ts';
import { SecretBox } from '../../../../src/platform/secrets.ts';

/** Creates a kill switch on a platform's database, in any process. */
export function killSwitchOn(
  parts: Parts,
  { clock, change = (step) => step }: { clock: () => Date; change?: (step: KillStep) => KillStep },
): KillSwitch {
  const { database, log, administration, outbox } = parts;
  const publicUrl = () => 'https://platform.example.com';
  const alerts = { notify: async () => 'none' as const };
  const common = { database, clock, log, administration, outbox, alerts, publicUrl };
  const masterKey = parts.sealKeys.forThread();
  const issuer = new Issuer(common, new SecretBox(masterKey, 'agents/authorities'));
  const trust = new TrustWriter({ ...common, trustTimes: TRUST_TIMES }, issuer);
  const deps: KillDeps = {
    ...common,
    issuer,
    trust,
    dispatcher: new Dispatcher(),
    askPublic: async (agentId) => (await issuer.published.verify(agentId)).valid,
  };
  return new KillSwitch(deps, killSteps(deps).map(change));
}
