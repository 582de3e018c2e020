import { readFile, rm, writeFile } from 'node:fs/promises';
import { EvidenceError, messageOf } from '../core/errors.ts';
import { issueKey } from './accounts/api-keys.ts';
import { createKey, type NewKey, toKey } from './accounts/key.ts';
import type { AccountTables } from './accounts/tables.ts';
import type { Reader } from './database/database.ts';
import { DomainError } from './errors.ts';
import { canonicalEmail, isEmail } from './mail/address.ts';
import type { Parts } from './parts.ts';
import { SCOPES } from './scopes.ts';
import { readPassword } from './settings.ts';

const [EMAIL, PASSWORD_FILE, KEY_FILE] = [
  'EVIDENCE_BOOTSTRAP_EMAIL',
  'EVIDENCE_BOOTSTRAP_PASSWORD_FILE',
  'EVIDENCE_BOOTSTRAP_KEY_FILE',
];

/**
 * Creates the first owner and an API key from environment variables, which are ignored once there is an account.
 * @returns a readable account of the result; null if nothing was done.
 * @throws EvidenceError `config` with the variable.
 */
export async function bootstrap(parts: Parts, environment: NodeJS.ProcessEnv): Promise<string | null> {
  const { database, clock, administration, accounts } = parts;
  const email = canonicalEmail(environment[EMAIL] ?? '');
  if (email === '' || !(await accounts.people.isNobody())) return null;
  if (!isEmail(email)) throw new EvidenceError('config', `${EMAIL} is not an e-mail address`);
  const password = readPassword(PASSWORD_FILE, environment[PASSWORD_FILE] ?? '');
  const keyFile = environment[KEY_FILE] || null;
  const key = keyFile === null ? null : await keyIn(keyFile);
  const input = { name: 'bootstrap key', scopes: SCOPES, expiresAt: null };
  const actor = { name: 'command:serve', scopes: SCOPES };
  try {
    await accounts.joining.bootstrap({ email, name: email, password }, async (transaction) => {
      if (key === null || (await isKnown(transaction, key.given))) return;
      await issueKey(transaction, input, { actor, now: clock(), administration, given: key.given });
    });
    return `created the first account, ${email}, as specified by ${EMAIL}`;
  } catch (error) {
    if (keyFile !== null && key?.isNew === true && !(await isKnown(database, key.given))) await rm(keyFile);
    if (!(error instanceof DomainError)) throw error;
    if (error.code === 'weak_password') throw new EvidenceError('config', `${PASSWORD_FILE}: ${error.message}`);
    // Another process was faster.
    if (!(await accounts.people.isNobody())) return null;
    throw error;
  }
}

/** Returns the key in a file, or a new one, which is written there. @throws EvidenceError `config`. */
async function keyIn(path: string): Promise<{ given: NewKey; isNew: boolean }> {
  try {
    const made = createKey();
    if (await writeNew(path, `${made.text}\n`)) return { given: made, isNew: true };
    const given = toKey((await readFile(path, 'utf8')).trim());
    if (given === null) throw new Error('the file has no API key');
    return { given, isNew: false };
  } catch (error) {
    throw new EvidenceError('config', `${KEY_FILE}: ${path}: ${messageOf(error)}`, {
      cause: error,
      nextStep: 'Specify a file with an API key of this platform, or a new file, to which a new key is written.',
    });
  }
}

/** Writes a file that only its owner can read. @returns false if the file already exists. */
async function writeNew(path: string, text: string): Promise<boolean> {
  try {
    await writeFile(path, text, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
    throw error;
  }
}

/**
 * Reports whether the key already exists, for example from `init`. @throws EvidenceError `config` if another key has
 * its id.
 */
async function isKnown(reader: Reader, { id, sha256 }: NewKey): Promise<boolean> {
  const keys = reader.tables<AccountTables>().selectFrom('api_keys').select('sha256');
  const row = await keys.where('key_id', '=', id).executeTakeFirst();
  if (row !== undefined && row.sha256 !== sha256)
    throw new EvidenceError('config', `${KEY_FILE} has a key whose ID belongs to another key`);
  return row !== undefined;
}
