import { plural } from '../../core/plurals.ts';
import { accountOf, isCanaryAccount } from './aws/access-key.ts';
import type { DecoyPlace } from './decoys/decoy.ts';
import type { TrapServiceDeps } from './making.ts';
import { proofSince } from './rules.ts';
import type { TrapTables } from './tables.ts';
import type { Traps } from './traps.ts';
import type { RealismCheck, WireTrap } from './wire.ts';

interface RealismDeps extends Pick<TrapServiceDeps, 'database' | 'clock'> {
  traps: Pick<Traps, 'find'>;
  /** Decoys that listen here. */
  places: () => readonly DecoyPlace[];
  /** Returns the public address of the platform. */
  publicUrl: () => string;
}

/** Facts about a trap that could give it away. */
export interface TrapLooks {
  trap: WireTrap;
  /** Decoy that the trap leads to; null if there is none or it does not listen. */
  place: DecoyPlace | null;
  /** Host in the planted credential; null if unknown. */
  host: string | null;
  platformHost: string;
  /** Number of other used traps with the same host. */
  trippedBeside: number;
  now: Date;
}

/** Checks how well traps hide. */
export class Realism {
  readonly #deps: RealismDeps;

  constructor(deps: RealismDeps) {
    this.#deps = deps;
  }

  /** @throws DomainError `not_found`. */
  async check(credentialId: string): Promise<RealismCheck[]> {
    const { clock, traps, places, publicUrl } = this.#deps;
    const trap = await traps.find(credentialId);
    const place = places().find(({ name }) => name === trap.decoy) ?? null;
    const platformHost = new URL(publicUrl()).hostname;
    const ownHost = trap.decoy === null && trap.credential_type === 'web_bug' ? platformHost : null;
    const trippedBeside = await this.#trippedBeside(trap);
    return realismOf({ trap, place, host: place?.host ?? ownHost, platformHost, trippedBeside, now: clock() });
  }

  async #trippedBeside({ credential_id, credential_type, decoy }: WireTrap): Promise<number> {
    const traps = this.#deps.database.tables<TrapTables>().selectFrom('traps');
    const beside =
      decoy === null
        ? traps.where('decoy', 'is', null).where('credential_type', '=', credential_type)
        : traps.where('decoy', '=', decoy);
    const tripped = beside.where('credential_id', '!=', credential_id).where('detection_count', '>', 0);
    const { count } = await tripped.select(({ fn }) => fn.countAll().as('count')).executeTakeFirstOrThrow();
    return Number(count);
  }
}

/** Returns the checks that apply to a trap. */
export function realismOf(looks: TrapLooks): RealismCheck[] {
  return CHECKS.map((check) => check(looks)).filter((each) => each !== null);
}

const CHECKS: readonly ((looks: TrapLooks) => RealismCheck | null)[] = [
  plainLabel,
  plainHost,
  ownHost,
  certificate,
  unlistedAccount,
  unspentDecoy,
  planted,
  proved,
];

/** Word beginnings that trap hunters search for; `bootstrap` does not match. */
const TELLTALE = /(?<![a-z])(?:bait|canar(?:y|ies)|decoy|evidence|fake|honey|thinkst|trap|tripwire)/i;

function plainLabel({ trap: { label } }: TrapLooks): RealismCheck {
  const [word] = TELLTALE.exec(label) ?? [];
  if (word === undefined) return passed('plain_label', 'The label contains no telltale word.');
  const reason = `The label contains the word “${word}”. The label is not planted, but alerts contain it.`;
  return failed('plain_label', reason, 'Create another trap, labeled as what it imitates, and plant that one.');
}

function plainHost({ host, trap }: TrapLooks): RealismCheck | null {
  if (host === null) return unknownHost('plain_host', trap);
  const [word] = TELLTALE.exec(host) ?? [];
  if (word === undefined) return passed('plain_host', `The host ${host} contains no telltale word.`);
  const next = 'Change the public host of the decoy under public in the settings, and rotate the trap.';
  return failed('plain_host', `The planted credential contains the host ${host}, with the word “${word}”.`, next);
}

function ownHost({ host, platformHost, trap }: TrapLooks): RealismCheck | null {
  if (host === null) return unknownHost('own_host', trap);
  if (host !== platformHost && !host.endsWith(`.${platformHost}`))
    return passed('own_host', `The host ${host} does not reveal the platform.`);
  const next =
    trap.decoy === null
      ? 'Configure a decoy with a separate host, and create a trap that leads to it.'
      : 'Set a separate host for the decoy under public in the settings, and rotate the trap.';
  return failed('own_host', `The trap leads to ${host}, which reveals this platform.`, next);
}

function certificate({ place }: TrapLooks): RealismCheck | null {
  if (place === null || place.kind === 'ssh') return null;
  const { kind, authority, isPlain } = place;
  if (isPlain === true && kind === 'aws') {
    const next = 'Set certificate_file and key_file of the decoy.';
    return failed('certificate', 'The decoy does not use TLS, but AWS does.', next);
  }
  if (authority === null)
    return passed('certificate', 'Clients trust the certificate of the decoy without configuration.');
  if (kind === 'kubernetes' || kind === 'postgres')
    return passed('certificate', 'The certificate is from a private authority, as is common for such servers.');
  const next = 'Set certificate_file and key_file of the decoy to a certificate from a public authority.';
  return failed('certificate', 'The certificate is self-made by the decoy, so browsers warn about it.', next);
}

function unlistedAccount({ trap: { credential_type, known_as } }: TrapLooks): RealismCheck | null {
  if (credential_type !== 'aws_key') return null;
  const account = accountOf(known_as);
  if (account === null) {
    const reason = 'The key has the older format, which does not contain the account.';
    return { check: 'unlisted_account', result: 'unknown', reason, next_step: null };
  }
  if (!isCanaryAccount(account))
    return passed('unlisted_account', `The account ${account} is on no public list of traps.`);
  const next = 'Use a key of another account, or create one here.';
  return failed('unlisted_account', `The account ${account} is on public lists of traps, which scanners use.`, next);
}

function unspentDecoy({ trap: { decoy }, host, trippedBeside }: TrapLooks): RealismCheck | null {
  if (decoy === null && host === null) return null;
  if (trippedBeside === 0) return passed('unspent_decoy', 'No other trap with the same host was used.');
  const next = `Use ${decoy === null ? 'a decoy' : 'another decoy'} with an unused host.`;
  const reason = `${plural(trippedBeside, 'other trap')} with the same host ${trippedBeside === 1 ? 'was' : 'were'} used, so the host is known.`;
  return failed('unspent_decoy', reason, next);
}

function planted({ trap: { confirmed_at } }: TrapLooks): RealismCheck {
  if (confirmed_at !== null) return passed('planted', 'The trap was confirmed as planted.');
  return failed('planted', 'The trap was not confirmed as planted.', 'Plant the trap, and confirm it.');
}

function proved({ trap: { detection_channels }, now }: TrapLooks): RealismCheck {
  const active = detection_channels.filter((each) => each.active);
  if (active.length === 0)
    return failed('proved', 'No channel would detect a use now.', 'See the channels of the trap for the reasons.');
  const since = proofSince(now);
  const missing = active.filter(({ last_proved_at: at }) => at === null || at < since).map(({ channel }) => channel);
  if (missing.length === 0) return passed('proved', 'Each active channel was proved in the last 30 days.');
  const reason = `Not proved in the last 30 days: ${missing.join(', ')}.`;
  return failed('proved', reason, 'Test the trap.');
}

/**
 * Returns an unknown result for a trap whose decoy is gone; null for a trap without a decoy, which has no host of ours.
 */
function unknownHost(check: RealismCheck['check'], { decoy }: WireTrap): RealismCheck | null {
  if (decoy === null) return null;
  const reason = `The decoy “${decoy}” is not listening here, so the planted host is unknown.`;
  return { check, result: 'unknown', reason, next_step: 'Restore the decoy in the settings, or rotate the trap.' };
}

function passed(check: RealismCheck['check'], reason: string): RealismCheck {
  return { check, result: 'passed', reason, next_step: null };
}

function failed(check: RealismCheck['check'], reason: string, next_step: string): RealismCheck {
  return { check, result: 'failed', reason, next_step };
}
