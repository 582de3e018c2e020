import { randomBytes } from 'node:crypto';
import { messageOf } from '../../core/errors.ts';
import type { Actor } from '../http/principal.ts';
import type { Decoy, FoundTrap } from './decoys/decoy.ts';
import { recordAct } from './entries.ts';
import type { Channel, CredentialType } from './enums.ts';
import type { TrapServiceDeps } from './making.ts';
import { findTrap, noteProof, type Trap } from './repository.ts';
import type { TrapUse } from './use.ts';
import type { KeptCredential } from './vault.ts';
import type { ChannelTest } from './wire.ts';

interface MarkedUse extends Pick<FoundTrap, 'type' | 'credential'> {
  decoy: string | null;
  channels: readonly Channel[];
}

interface ProvingDeps extends TrapServiceDeps {
  /** Returns the probe that uses a trap as a client would, if this process has one. */
  probeOf: (trap: { decoy: string | null; type: CredentialType }) => Decoy['probe'] | undefined;
}

/** Proves that channels detect uses, with marked uses that send no alert. */
export class Proving {
  readonly #deps: ProvingDeps;
  /** Marked uses in progress, by user agent, with the channels that detected them. */
  readonly #underWay = new Map<string, { trapNo: number; seen: Set<Channel> }>();

  constructor(deps: ProvingDeps) {
    this.#deps = deps;
  }

  /**
   * Reports whether a use is a marked one of this process, and not a real one. The mark is random, known only here, and
   * valid only during its test.
   */
  takes({ userAgent, trapNo, channel }: TrapUse): boolean {
    const test = this.#underWay.get(userAgent ?? '');
    if (test === undefined || test.trapNo !== trapNo) return false;
    test.seen.add(channel);
    return true;
  }

  /** Uses a trap as a client would. @throws DomainError `not_found`. */
  async test(actor: Actor, credentialId: string): Promise<ChannelTest[]> {
    const { database, vault } = this.#deps;
    const trap = await findTrap(database, credentialId);
    const kept = vault.open(trap);
    const results: ChannelTest[] = [];
    for (const use of usesOf(trap, kept)) results.push(...(await this.#try(trap, use)));
    const proved = results.filter(({ proved: is }) => is).map(({ channel }) => channel);
    if (proved.length > 0) await this.#note(actor, trap, proved);
    return results;
  }

  async #try(trap: Trap, { decoy: name, type, credential, channels }: MarkedUse): Promise<ChannelTest[]> {
    const probe = this.#deps.probeOf({ decoy: name, type });
    if (probe === undefined) return channels.map((channel) => ({ channel, proved: false, outcome: notHere(name) }));
    const mark = `check-${randomBytes(16).toString('hex')}`;
    const underWay = { trapNo: trap.trap_no, seen: new Set<Channel>() };
    this.#underWay.set(mark, underWay);
    let failure: string | null = null;
    try {
      await probe({ trapNo: trap.trap_no, type, credential }, mark);
    } catch (error) {
      failure = messageOf(error);
    } finally {
      this.#underWay.delete(mark);
    }
    return channels.map((channel) => ({
      channel,
      ...(channel === 'file_read' ? AT_PLANTING : outcomeOf(underWay.seen.has(channel), failure)),
    }));
  }

  async #note(actor: Actor, { trap_no, credential_id }: Trap, channels: readonly Channel[]): Promise<void> {
    const { database, clock, log } = this.#deps;
    const proved_at = clock().toISOString();
    await database.write(async (transaction) => {
      for (const channel of channels) await noteProof(transaction, { trap_no, channel, proved_at });
      const more = { channels: [...channels] };
      await recordAct(log, transaction, { actor, action: 'trap.proved', of: ['trap', credential_id], more });
    });
  }
}

/** Returns a marked use for each credential of a trap, and one for the vault that holds the trap. */
function usesOf(
  { decoy, credential_type: type }: Trap,
  { credential, channels: all, parts }: KeptCredential,
): MarkedUse[] {
  const inVault = all.filter((channel) => channel in VAULT_CHANNELS);
  const uses = inVault.map((channel) => ({
    decoy: null,
    type: VAULT_CHANNELS[channel] ?? type,
    credential,
    channels: [channel],
  }));
  const channels = all.filter((channel) => !inVault.includes(channel));
  if (channels.length === 0) return uses;
  if (parts.length === 0) return [{ decoy, type, credential, channels }, ...uses];
  const each = parts.map((part) => ({ ...part, credential: credential[part.type] as MarkedUse['credential'] }));
  return [...each, ...uses];
}

/** Types of vault uses by channel; every credential in a vault is read like a secret. */
const VAULT_CHANNELS: Partial<Record<Channel, CredentialType>> = {
  vault_read: 'agent_secret',
  tool_call: 'agent_tool',
};

const AT_PLANTING = {
  proved: false,
  outcome: 'Only the sensor on the machine can test this channel; it read the file when it planted it.',
};

function notHere(decoy: string | null): string {
  return decoy === null
    ? 'The trap leads to no decoy that can be tested from here.'
    : `The decoy "${decoy}" is not listening in this process.`;
}

function outcomeOf(seen: boolean, failure: string | null): { proved: boolean; outcome: string } {
  if (seen) return { proved: true, outcome: 'The marked use was detected.' };
  return { proved: false, outcome: failure ?? 'The marked use was not detected.' };
}
