import { DomainError } from '../errors.ts';
import { tokenDigest } from '../secrets.ts';
import type { AccountDeps } from './deps.ts';
import { type PersonRow, personById } from './person-rows.ts';

/** Validity of a ticket, during which the person finds the code. */
const LIFETIME_MS = 5 * 60 * 1000;

/** Context of the ticket's seal. */
const OWNER = 'sign-in ticket';

interface Ticket {
  person_id: string;
  /** Digest of the stored password hash; changing the password invalidates the ticket. */
  password: string;
  until: string;
}

type Deps = Pick<AccountDeps, 'secrets' | 'clock' | 'database'>;

/** Returns a sealed ticket, with which the platform later recognizes that the password was right. */
export function sealTicket({ secrets, clock }: Deps, { person_id, password }: PersonRow): string {
  const until = new Date(clock().getTime() + LIFETIME_MS).toISOString();
  const ticket: Ticket = { person_id, password: tokenDigest(password), until };
  return secrets.seal(Buffer.from(JSON.stringify(ticket)), OWNER).toString('base64url');
}

/** Returns the person of a ticket. @throws DomainError `not_signed_in` if the ticket is invalid or has expired. */
export async function openTicket(deps: Deps, text: string): Promise<PersonRow> {
  const ticket = read(deps, text);
  const person = ticket === null ? undefined : await personById(deps.database, ticket.person_id);
  if (ticket === null || person === undefined || tokenDigest(person.password) !== ticket.password)
    throw new DomainError('not_signed_in', 'the sign-in has expired; start again with your password');
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
