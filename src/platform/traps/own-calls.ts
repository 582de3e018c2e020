import { Dispatcher } from '../outgoing/dispatcher.ts';
import type { Decoy } from './decoys/decoy.ts';
import type { CredentialType } from './enums.ts';
import type { VaultTraps } from './vault-traps.ts';

/**
 * Returns probes that use a trap as its client would, where this process can.
 * @param running the decoys that listen here.
 */
export function probesOf(running: () => readonly Decoy[], vaultTraps: () => Pick<VaultTraps, 'tryOut'>) {
  return ({ decoy, type }: { decoy: string | null; type: CredentialType }): Decoy['probe'] | undefined => {
    if (type === 'agent_secret' || type === 'agent_tool')
      return ({ trapNo }, mark) => vaultTraps().tryOut(trapNo, mark);
    if (decoy === null) return type === 'web_bug' ? callWebBug : undefined;
    const found = running().find(({ place }) => place.name === decoy);
    return found && ((...use) => found.probe(...use));
  };
}

/** Calls a web bug that leads to the platform itself, where people reach it. */
const callWebBug: Decoy['probe'] = async ({ credential }, userAgent) => {
  const url = new URL(String(credential['url']));
  const dispatcher = new Dispatcher({ allowed: [url.host] });
  const { status } = await dispatcher.send({ url, method: 'GET', headers: { 'user-agent': userAgent } });
  if (status !== 200) throw new Error(`${url.host} answered the call with status ${status}.`);
};
