import type { Json } from '../../core/json/canonical.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError, invalidField } from '../errors.ts';
import { newestFirst } from '../http/newest-first.ts';
import type { Actor } from '../http/principal.ts';
import { keyedRequest, makeOnce } from '../idempotency/keyed-results.ts';
import type { DecoyPlace } from './decoys/decoy.ts';
import { changeRecorded, namedPlace, plantedType, storeTrap, type TrapFacts, type TrapServiceDeps } from './making.ts';
import { changeTrap, channelProofs, findTrap, nextChange, type Trap } from './repository.ts';
import { statusOf } from './rules.ts';
import type { TrapTables } from './tables.ts';
import { type ChannelTruth, trapToWire } from './trap-wire.ts';
import type { MadeTrap } from './types/type.ts';
import { TYPES } from './types/types.ts';
import type { NewTrap, TrapQuery, WireMadeTrap, WireTrap } from './wire.ts';

interface TrapsDeps extends TrapServiceDeps {
  /** Returns the configured decoys. */
  places: () => readonly DecoyPlace[];
  /** Returns the public address of the platform. */
  publicUrl: () => string;
  /** Returns a function that judges each trap's channels as of now. */
  channelTruth: () => Promise<ChannelTruth>;
}

/** Credential that was made, and the request for it. */
interface Taken {
  scope: string;
  body: object;
  idempotencyKey?: string | undefined;
  made: MadeTrap;
}

/** Traps, for routes and pages. */
export class Traps {
  readonly #deps: TrapsDeps;

  constructor(deps: TrapsDeps) {
    this.#deps = deps;
  }

  /**
   * Makes a credential that nothing uses, so that each use of it is a detection.
   * @throws DomainError `conflict` if no channel would detect its use; `invalid_request`; `key_shown_before` for a
   * repeated request.
   */
  async generate(actor: Actor, input: NewTrap, idempotencyKey: string | undefined): Promise<WireMadeTrap> {
    const { made, facts } = await this.prepare(input);
    return this.#keep({ scope: 'traps/generate', body: input, idempotencyKey, made }, (transaction, now) =>
      storeTrap(transaction, this.#deps, facts, { made, actor, now }),
    );
  }

  /** Makes the same credential as `generate` without storing it. @throws DomainError `conflict`, `invalid_request`. */
  async prepare(input: NewTrap): Promise<{ made: MadeTrap; facts: TrapFacts }> {
    const place = this.#placeFor(input);
    const made = await this.#make(input, place);
    const facts = {
      credential_type: input.credential_type,
      plant_location: input.plant_location,
      label: input.label,
      origin: 'fabricated' as const,
      decoy: place?.name ?? null,
      expires_at: input.expires_at,
      rotated_from: null,
    };
    return { made, facts };
  }

  /**
   * Stores a credential that was made elsewhere.
   * @throws DomainError `conflict` if it is already a trap; `key_shown_before`.
   */
  take(actor: Actor, facts: TrapFacts, taken: Taken): Promise<WireMadeTrap> {
    const { vault } = this.#deps;
    return this.#keep(taken, async (transaction, now) => {
      const { made } = taken;
      if ((await vault.marks.find(transaction, made.marks)) !== null)
        throw new DomainError('conflict', `${made.knownAs} is already a trap`);
      return storeTrap(transaction, this.#deps, facts, { made, actor, now });
    });
  }

  /**
   * Makes a credential that replaces another one, which stays a trap forever.
   * @throws DomainError `not_found`; `conflict` if the trap has ended; as `generate`.
   */
  async rotate(actor: Actor, credentialId: string, idempotencyKey: string | undefined): Promise<WireMadeTrap> {
    const { database, clock } = this.#deps;
    const old = await findTrap(database, credentialId);
    if (old.origin !== 'fabricated')
      throw new DomainError('conflict', 'the key belongs to a real account; rotate it there, and import the new key');
    const input = { ...old, credential_type: plantedType(old), decoy: old.decoy ?? undefined, options: {} };
    const place = this.#placeFor(input);
    const made = await this.#make(input, place);
    return this.#keep(
      { scope: `traps/${credentialId}/rotate`, body: {}, idempotencyKey, made },
      async (transaction, now) => {
        const trap = await findTrap(transaction, credentialId);
        refuseEnded(trap, clock());
        await changeTrap(transaction, trap, { rotated_at: now.toISOString() });
        // The replacement of an expired trap does not inherit the expiry.
        const expires_at = statusOf(trap, now) === 'expired' ? null : trap.expires_at;
        const facts = { ...trap, expires_at, decoy: place?.name ?? null, rotated_from: credentialId };
        return storeTrap(transaction, this.#deps, facts, { made, actor, now });
      },
    );
  }

  /** Lists traps, newest first. @throws DomainError `invalid_cursor`. */
  async list({ limit, cursor, credential_type, plant_location }: TrapQuery) {
    const { database } = this.#deps;
    let traps = database.tables<TrapTables>().selectFrom('traps').selectAll();
    if (credential_type !== undefined) traps = traps.where('credential_type', '=', credential_type);
    if (plant_location !== undefined) traps = traps.where('plant_location', '=', plant_location);
    const numbered = { list: 'traps', table: 'traps', number: 'trap_no' } as const;
    const { page, next_cursor } = await newestFirst(traps, numbered, { limit, cursor });
    return { data: await this.#toWire(page), next_cursor };
  }

  /** @throws DomainError `not_found`. */
  async find(credentialId: string): Promise<WireTrap> {
    return this.#one(await findTrap(this.#deps.database, credentialId));
  }

  /** Records that the trap was planted. @throws DomainError `not_found`, `conflict`, `invalid_request`. */
  confirm(actor: Actor, credentialId: string, plantedAt: string | undefined): Promise<WireTrap> {
    return this.#change(actor, credentialId, 'trap.planted', (trap, now) => {
      refuseEnded(trap, now);
      const confirmed_at = now.toISOString();
      const planted_at = plantedAt ?? confirmed_at;
      if (planted_at > confirmed_at) throw invalidField('planted_at', 'must not be in the future');
      return { planted_at, confirmed_at };
    });
  }

  /** Ends the trap. A later use is still a detection. @throws DomainError `not_found`. */
  revoke(actor: Actor, credentialId: string): Promise<WireTrap> {
    return this.#change(actor, credentialId, 'trap.revoked', (trap, now) =>
      trap.revoked_at === null ? { revoked_at: now.toISOString() } : null,
    );
  }

  /** Returns a trap to its state before it was triggered. Its detections stay. @throws DomainError `not_found`. */
  reset(actor: Actor, credentialId: string): Promise<WireTrap> {
    return this.#change(actor, credentialId, 'trap.reset', (trap) =>
      trap.triggered_at === null ? null : { triggered_at: null },
    );
  }

  /** Changes a trap, with an entry; does nothing if `changeOf` returns null. */
  async #change(
    actor: Actor,
    credentialId: string,
    action: string,
    changeOf: (trap: Trap, now: Date) => Partial<Trap> | null,
  ): Promise<WireTrap> {
    const { database, clock, log } = this.#deps;
    const trap = await database.write(async (transaction) => {
      // Locks the number of changes, because detections show when their trap was planted.
      await nextChange(transaction);
      const found = await findTrap(transaction, credentialId);
      const change = changeOf(found, clock());
      return change === null ? found : changeRecorded(transaction, log, found, { actor, action, change });
    });
    return this.#one(trap);
  }

  /** Stores a credential once per idempotency key. */
  async #keep(
    { scope, body, idempotencyKey, made }: Taken,
    store: (transaction: Transaction, now: Date) => Promise<Trap>,
  ): Promise<WireMadeTrap> {
    const { database, clock } = this.#deps;
    const now = clock();
    const keyed = keyedRequest(scope, idempotencyKey, body as Json);
    const outcome = await database.write((transaction) =>
      makeOnce(
        transaction,
        { keyed, now },
        () => store(transaction, now),
        ({ credential_id }) => credential_id,
      ),
    );
    if ('made' in outcome) {
      const { credential, artifact } = made;
      return { ...(await this.#one(outcome.made)), credential, artifact };
    }
    throw credentialShownBefore(outcome.earlier);
  }

  #make(input: Pick<NewTrap, 'credential_type' | 'plant_location' | 'label' | 'options'>, decoy: DecoyPlace | null) {
    const { clock, publicUrl, places } = this.#deps;
    const { plant_location: plantLocation, label, options } = input;
    const more = { publicUrl: publicUrl(), now: clock(), places: places() };
    return TYPES[input.credential_type].make({ plantLocation, label, decoy, options, ...more });
  }

  /** Returns the decoy that a trap leads to. @throws DomainError `invalid_request`, `conflict`. */
  #placeFor({ credential_type, decoy }: Pick<NewTrap, 'credential_type' | 'decoy'>): DecoyPlace | null {
    const { decoy: kind, needsDecoy } = TYPES[credential_type];
    const places = this.#deps.places();
    if (decoy !== undefined) return namedPlace(places, decoy, kind);
    const place = places.find((each) => each.kind === kind) ?? null;
    if (place === null && needsDecoy)
      throw new DomainError(
        'conflict',
        `no channel would detect a use of this trap (${credential_type}): it requires a decoy of kind ${kind}, and none is configured`,
      );
    return place;
  }

  async #toWire(traps: readonly Trap[]): Promise<WireTrap[]> {
    const { database, vault, clock, channelTruth } = this.#deps;
    const proofs = await channelProofs(
      database,
      traps.map(({ trap_no }) => trap_no),
    );
    const [now, truth] = [clock(), await channelTruth()];
    return traps.map((trap) =>
      trapToWire(trap, { kept: vault.open(trap), proofs: proofs.get(trap.trap_no) ?? [], now, channelTruth: truth }),
    );
  }

  async #one(trap: Trap): Promise<WireTrap> {
    const [wire] = await this.#toWire([trap]);
    if (wire === undefined) throw new Error('one trap became none');
    return wire;
  }
}

export function credentialShownBefore(credentialId: string): DomainError {
  return new DomainError(
    'key_shown_before',
    `this request already created the trap ${credentialId}, whose credential cannot be shown again; if you lost it, revoke that trap and create another one`,
  );
}

function refuseEnded(trap: Trap, now: Date): void {
  const status = statusOf(trap, now);
  if (status === 'revoked' || status === 'rotated')
    throw new DomainError(
      'conflict',
      `the trap is already ${status}, so it can be neither confirmed nor rotated; its uses are still detected`,
    );
}
