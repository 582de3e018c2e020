import { randomBytes } from 'node:crypto';
import type { Transaction } from '../database/database.ts';
import { type SecretBox, tokenDigest } from '../secrets.ts';
import { type PersonRow, updatePerson } from './person-rows.ts';
import { base32 } from './totp.ts';

/** Number of codes made at once. Only their digests are stored, sealed for the person. */
export const RECOVERY_CODES = 10;
/** Length of a code, too long to guess: 16 characters in base 32. */
const CODE_BYTES = 10;

type Holder = Pick<PersonRow, 'person_id' | 'recovery_codes'>;

/** Makes the codes of a person who adds the first second factor. @returns null if the person has codes. */
export async function firstCodes(
  transaction: Transaction,
  secrets: SecretBox,
  person: Holder,
): Promise<string[] | null> {
  return person.recovery_codes === null ? storeNewCodes(transaction, secrets, person) : null;
}

/** Uses up a code. @param person whose row is locked. @returns true if the code was good. */
export async function takeRecoveryCode(
  transaction: Transaction,
  secrets: SecretBox,
  person: Holder,
  typed: string,
): Promise<boolean> {
  const digests = open(secrets, person);
  const digest = digestOf(typed);
  if (!digests.includes(digest)) return false;
  await store(
    transaction,
    secrets,
    person,
    digests.filter((each) => each !== digest),
  );
  return true;
}

export function codesLeft(secrets: SecretBox, person: Holder): number {
  return open(secrets, person).length;
}

/** Makes codes, which replace all earlier ones. @returns the codes, which are not shown again. */
export async function storeNewCodes(transaction: Transaction, secrets: SecretBox, person: Holder): Promise<string[]> {
  const codes = Array.from({ length: RECOVERY_CODES }, () => toGroups(base32(randomBytes(CODE_BYTES)).toLowerCase()));
  await store(transaction, secrets, person, codes.map(digestOf));
  return codes;
}

async function store(
  transaction: Transaction,
  secrets: SecretBox,
  { person_id }: Holder,
  digests: readonly string[],
): Promise<void> {
  const recovery_codes = secrets.seal(Buffer.from(JSON.stringify(digests)), ownerOf(person_id));
  await updatePerson(transaction, { person_id }, { recovery_codes });
}

function open(secrets: SecretBox, { person_id, recovery_codes }: Holder): string[] {
  if (recovery_codes === null) return [];
  return JSON.parse(secrets.open(recovery_codes, ownerOf(person_id)).toString()) as string[];
}

/** Returns the digest of a code, however it was typed. */
function digestOf(typed: string): string {
  return tokenDigest(typed.toLowerCase().replace(/[^a-z2-7]/g, ''));
}

function toGroups(code: string): string {
  return code.replace(/(.{4})(?=.)/g, '$1-');
}

function ownerOf(personId: string): string {
  return `recovery codes of ${personId}`;
}
