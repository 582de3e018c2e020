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

/** A trap that lies in the vault of an agent, before it is stored. */
export interface TrapOfVault {
  /** The value that the vault hands out; the name of a tool. */
  value: string;
  /** Stores it as planted, with its entries. @returns its `credential_id`. */
  store(transaction: Transaction, actor: Actor): Promise<string>;
}

/** A use of a decoy in a vault. */
export interface VaultUse {
  credentialId: string;
  channel: Extract<Channel, 'vault_read' | 'tool_call'>;
  depth: Extract<Depth, 'read' | 'used'>;
  /** RFC 3339 UTC with milliseconds. */
  at: string;
  /** The same one, told twice, counts once; null where it has no id. */
  eventId: string | null;
  /** In words. */
  action: string;
  address: string | null;
  userAgent: string | null;
  /** The request, unchanged. */
  request: string;
}

/** Uses a decoy as an agent would, under a name for its client. @throws Error in words for a person. */
export type UseDecoy = (credentialId: string, userAgent: string) => Promise<void>;

interface VaultTrapDeps extends TrapServiceDeps {
  traps: Pick<Traps, 'prepare'>;
  uses: Pick<Uses, 'recordIn'>;
  proving: Pick<Proving, 'takes'>;
  useDecoy: UseDecoy;
}

/** Thrown by a use that only proves a channel: its transaction leaves nothing behind. */
class MarkedUse extends Error {}

/** Traps in the vaults of AI agents. */
export class VaultTraps {
  readonly #deps: VaultTrapDeps;

  constructor(deps: VaultTrapDeps) {
    this.#deps = deps;
  }

  /** A secret that leads nowhere. */
  prepareSecret(label: string): TrapOfVault {
    const token = `tok_${randomText(40)}`;
    const made = madeIn({ token }, { channel: 'vault_read', content: token, knownAs: `${token.slice(0, 8)}…` });
    return this.#prepared(made, { ...OF_VAULT, credential_type: 'agent_secret', label, decoy: null });
  }

  /** The name of a tool that does nothing. */
  prepareTool(tool: string, label: string): TrapOfVault {
    const made = madeIn({ tool }, { channel: 'tool_call', content: tool, knownAs: tool });
    return this.#prepared(made, { ...OF_VAULT, credential_type: 'agent_tool', label, decoy: null });
  }

  /**
   * A credential of any kind that is planted elsewhere, too: its use is seen there. @throws DomainError as
   * `Traps.generate`.
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
   * Records uses of decoys, in the transaction of what else they led to: see `Uses.recordIn`.
   * @returns for each the detection that it led to; null for one that was recorded before.
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

  /** Proves that a use would be seen, and leaves nothing behind. @throws Error in words for a person. */
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
        // Detections say when their trap was planted.
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
  const instructions = 'It lies in the vault of an agent, and nothing is to be done.';
  const artifact = { filename: 'secret', content, instructions };
  return { credential, artifact, marks: [], channels: [channel], knownAs };
}
