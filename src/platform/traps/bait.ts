import type { Transaction } from '../database/database.ts';
import { invalidField } from '../errors.ts';
import type { Actor } from '../http/principal.ts';
import { changeRecorded, storeTrap, type TrapServiceDeps } from './making.ts';
import type { Uses } from './recording.ts';
import { findTrap, nextChange, noteProof } from './repository.ts';
import type { Traps } from './traps.ts';
import type { Artifact } from './types/type.ts';
import type { NewTrap } from './wire.ts';

/** Trap that an agent plants as a file, before it is stored. */
export interface PreparedBait {
  artifact: Artifact;
  /** Stores the trap with its entry. @returns its `credential_id`. */
  store(transaction: Transaction, actor: Actor): Promise<string>;
}

/** Read of a trap's file. */
export interface FileRead {
  /** RFC 3339 UTC with milliseconds. */
  readAt: string;
  /** Id of the read; a read that is reported twice counts once. */
  sourceEventId: string;
  path: string;
  /** Report of the agent, unchanged. */
  request: string;
}

/** State of the watch over a trap's file: active or not, and why. */
export interface FileWatch {
  active: boolean;
  reason: string;
}

/** Returns the watches by `credential_id`. */
export type FileWatches = () => Promise<ReadonlyMap<string, FileWatch>>;

interface BaitTrapDeps extends TrapServiceDeps {
  traps: Pick<Traps, 'prepare'>;
  uses: Pick<Uses, 'record'>;
}

/** Traps whose files an agent plants and watches. */
export class BaitTraps {
  readonly #deps: BaitTrapDeps;

  constructor(deps: BaitTrapDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a trap that can be planted as a file and whose reads are detected.
   * @throws DomainError `invalid_request` for a type without a file; as `Traps.generate`.
   */
  async prepare(input: NewTrap): Promise<PreparedBait> {
    if (input.credential_type === 'web_bug')
      throw invalidField('credential_type', 'a web_bug is a line in a page, not a file that a sensor can plant');
    const { made, facts } = await this.#deps.traps.prepare(input);
    const { vault, log, clock } = this.#deps;
    const watched = { ...made, channels: [...made.channels, 'file_read' as const] };
    return {
      artifact: made.artifact,
      async store(transaction, actor) {
        // Locks the number of changes, because detections show when their trap was planted.
        await nextChange(transaction);
        const more = { made: watched, actor, now: clock() };
        return (await storeTrap(transaction, { vault, log }, facts, more)).credential_id;
      },
    };
  }

  /** Records that an agent has planted the file, and whether the agent detected its own read of it. */
  async notePlanted(
    transaction: Transaction,
    { actor, credentialId, isReadSeen }: { actor: Pick<Actor, 'name'>; credentialId: string; isReadSeen: boolean },
  ): Promise<void> {
    const { log, clock } = this.#deps;
    const now = clock().toISOString();
    await nextChange(transaction);
    const trap = await findTrap(transaction, credentialId);
    const { trap_no } = trap;
    if (isReadSeen) await noteProof(transaction, { trap_no, channel: 'file_read', proved_at: now });
    const change = { planted_at: now, confirmed_at: now };
    const more = { is_read_seen: isReadSeen };
    await changeRecorded(transaction, log, trap, { actor, action: 'trap.planted', change, more });
  }

  /** Records a read as a detection of depth `read`, or as an occurrence of one. */
  async recordRead(credentialId: string, { readAt, sourceEventId, path, request }: FileRead): Promise<void> {
    const { database, uses } = this.#deps;
    const { trap_no: trapNo } = await findTrap(database, credentialId);
    await uses.record({
      trapNo,
      channel: 'file_read',
      depth: 'read',
      eventTime: readAt,
      sourceEventId,
      sourceIp: null,
      userAgent: null,
      action: `read ${path}`,
      service: 'file',
      region: null,
      authVerified: null,
      request,
    });
  }
}
