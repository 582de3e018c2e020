import type { Transaction } from '../database/database.ts';
import type { Actor } from '../http/principal.ts';
import { randomText } from './decoys/names.ts';
import type { Channel, Depth } from './enums.ts';
import { changeRecorded, storeTrap, type TrapFacts, type TrapServiceDeps } from './making.ts';
import type { Proving } from './proving.ts';
import type { Recorded, Uses } from './recording.ts';
import { findTrap, nextChange, trapRow } from './repository.ts';
import type { Traps } from './traps.ts';
import type { MadeTrap } from './types/type.ts';
import type { NewTrap } from './wire.ts';

/** Trap in the vault of an agent, before it is stored. */
export interface TrapOfVault {
  /** Value that the vault hands out, or the name of a tool. */
  value: string;
  /** Stores the trap as planted, with its entries. @returns its `credential_id`. */
  store(transaction: Transaction, actor: Actor): Promise<string>;
}

/** Use of a decoy in a vault. */
export interface VaultUse {
  credentialId: string;
  channel: Extract<Channel, 'vault_read' | 'tool_call'>;
  depth: Extract<Depth, 'read' | 'used'>;
  /** RFC 3339 UTC with milliseconds. */
  at: string;
  /** Id of the use, so that a use reported twice counts once; null if there is none. */
  eventId: string | null;
  /** Action in words. */
  action: string;
  address: string | null;
  userAgent: string | null;
  /** Request, unchanged. */
  request: string;
}

/** Uses a decoy as an agent would, with a given user agent. @throws Error with a readable message. */
export type UseDecoy = (credentialId: string, userAgent: string) => Promise<void>;

interface VaultTrapDeps extends TrapServiceDeps {
  traps: Pick<Traps, 'prepare'>;
  uses: Pick<Uses, 'recordIn'>;
  proving: Pick<Proving, 'takes'>;
  useDecoy: UseDecoy;
}

/** Error that rolls back the transaction of a use that only proves a channel. */
class MarkedUse extends Error {}

/** Traps in the vaults of AI agents. */
export class VaultTraps {
  readonly #deps: VaultTrapDeps;

  constructor(deps: VaultTrapDeps) {
    this.#deps = deps;
  }

  /** Makes a secret that leads nowhere. */
  prepareSecret(label: string): TrapOfVault {
    const token = `tok_${randomText(40)}`;
    const made = madeIn({ token }, { channel: 'vault_read', content: token, knownAs: `${token.slice(0, 8)}…` });
    return this.#prepared(made, { ...OF_VAULT, credential_type: 'agent_secret', label, decoy: null });
  }

  /** Makes the name of a tool that does nothing. */
  prepareTool(tool: string, label: string): TrapOfVault {
    const made = madeIn({ tool }, { channel: 'tool_call', content: tool, knownAs: tool });
    return this.#prepared(made, { ...OF_VAULT, credential_type: 'agent_tool', label, decoy: null });
  }

  /**
   * Makes a credential of any kind, whose use at its decoy is also detected. @throws DomainError as `Traps.generate`.
   */
  async prepareCredential(
    input: Pick<NewTrap, 'credential_type' | 'label' | 'decoy' | 'options'>,
  ): Promise<TrapOfVault> {
    const { made, facts } = await this.#deps.traps.prepare({
      ...input,
      plant_location: 'agent_vault',
      expires_at: null,
    });
    return this.#prepared({ ...made, channels: [...made.channels, 'vault_read'] }, facts);
  }

  /**
   * Records uses of decoys in the caller's transaction: see `Uses.recordIn`.
   * @returns the detection of each use; null for a use that was recorded before.
   */
  async record(transaction: Transaction, uses: readonly VaultUse[]): Promise<(Recorded | null)[]> {
    await nextChange(transaction);
    const recorded = [];
    for (const { credentialId, at, eventId, address, request, ...use } of uses) {
      const { trap_no: trapNo } = await findTrap(transaction, credentialId);
      recorded.push({
        ...use,
        trapNo,
        eventTime: at,
        sourceEventId: eventId,
        sourceIp: address,
        service: 'agents',
        region: null,
        authVerified: true,
        request,
      });
    }
    if (recorded.some((use) => this.#deps.proving.takes(use))) throw new MarkedUse('a marked use');
    return this.#deps.uses.recordIn(transaction, recorded);
  }

  /** Proves that a use would be detected, and leaves no records. @throws Error with a readable message. */
  async tryOut(trapNo: number, mark: string): Promise<void> {
    const { credential_id } = await trapRow(this.#deps.database, trapNo);
    await this.#deps.useDecoy(credential_id, mark).catch((error: unknown) => {
      if (!(error instanceof MarkedUse)) throw error;
    });
  }

  #prepared(made: MadeTrap, facts: TrapFacts): TrapOfVault {
    const { vault, log, clock } = this.#deps;
    return {
      value: made.artifact.content,
      async store(transaction, actor) {
        // Locks the number of changes, because detections show when their trap was planted.
        await nextChange(transaction);
        const now = clock();
        const trap = await storeTrap(transaction, { vault, log }, facts, { made, actor, now });
        const change = { planted_at: now.toISOString(), confirmed_at: now.toISOString() };
        await changeRecorded(transaction, log, trap, { actor, action: 'trap.planted', change });
        return trap.credential_id;
      },
    };
  }
}

const OF_VAULT = { plant_location: 'agent_vault', origin: 'fabricated', expires_at: null, rotated_from: null } as const;

function madeIn(
  credential: { [name: string]: string },
  { channel, content, knownAs }: { channel: VaultUse['channel']; content: string; knownAs: string },
): MadeTrap {
  const instructions = 'The trap is in the vault of an agent. No further steps are needed.';
  const artifact = { filename: 'secret', content, instructions };
  return { credential, artifact, marks: [], channels: [channel], knownAs };
}
