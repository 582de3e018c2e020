import { DomainError } from '../errors.ts';
import { tokenDigest } from '../secrets.ts';
import type { AccountDeps } from './deps.ts';
import { type PersonRow, personById } from './person-rows.ts';

/** For so long the password counts while the code is looked for. */
const LIFETIME_MS = 5 * 60 * 1000;

/** The purpose of its seal. */
const OWNER = 'sign-in ticket';

interface Ticket {
  person_id: string;
  /** Digest of the password as it is stored: another password makes the ticket worthless. */
  password: string;
  until: string;
}

type Deps = Pick<AccountDeps, 'secrets' | 'clock' | 'database'>;

/** Says, to nobody but this platform, that somebody gave the right password. */
export function sealTicket({ secrets, clock }: Deps, { person_id, password }: PersonRow): string {
  const until = new Date(clock().getTime() + LIFETIME_MS).toISOString();
  const ticket: Ticket = { person_id, password: tokenDigest(password), until };
  return secrets.seal(Buffer.from(JSON.stringify(ticket)), OWNER).toString('base64url');
}

/**
 * Finds the person of a ticket, as they were when they got it. @throws DomainError `not_signed_in` when it is none, or
 * too old.
 */
export async function openTicket(deps: Deps, text: string): Promise<PersonRow> {
  const ticket = read(deps, text);
  const person = ticket === null ? undefined : await personById(deps.database, ticket.person_id);
  if (ticket === null || person === undefined || tokenDigest(person.password) !== ticket.password)
    throw new DomainError('not_signed_in', 'too much time has passed; begin again with your password');
  return person;
}

function read({ secrets, clock }: Deps, text: string): Ticket | null {
  try {
    const ticket = JSON.parse(secrets.open(Buffer.from(text, 'base64url'), OWNER).toString()) as Ticket;
    return ticket.until > clock().toISOString() ? ticket : null;
  } catch {
    return null;
  }
}
