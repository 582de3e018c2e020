import process from 'node:process';
import type { z } from 'zod';
import { EvidenceError } from '../../core/errors.ts';
import { inPlainWords } from '../../core/schema-words.ts';
import { escapeControls } from '../../core/terminal/visible.ts';
import { byCommand } from '../accounts/administration.ts';
import type { ApiKey, IssuedKey, Issuing } from '../accounts/api-keys.ts';
import { KEY_PRESETS } from '../accounts/enums.ts';
import type { PlatformFlags } from '../config.ts';
import type { Transaction } from '../database/database.ts';
import { DomainError, sayRefusal } from '../errors.ts';
import { SCOPES } from '../scopes.ts';
import { command, type PlatformCommand } from './command.ts';
import { inPlace, placeOptions } from './place.ts';

const EXPIRES = { describe: 'Expiry, such as 2027-01-31T00:00:00Z' } as const;

const createCommand = command({
  describe: 'Create an API key and print it, once, to standard output',
  flags: {
    ...placeOptions,
    name: { required: true, describe: 'Purpose of the key' },
    scope: { array: true, describe: `Scope of the key; repeat for several: ${SCOPES.join(', ')}` },
    preset: { describe: `Set of scopes instead: ${KEY_PRESETS.join(', ')}` },
    stream: {
      array: true,
      describe: 'Only stream to which the key may append; * stands for any text; repeat for several',
    },
    actor: { describe: 'Only actor as whom the key may append' },
    expires: EXPIRES,
  },
  examples: [['$0 keys create --data ./data --name auditor --scope audit:read > auditor.key', '']],
  async work({ name, scope, preset, stream, actor, expires, ...flags }) {
    const { issueKey } = await import('../accounts/api-keys.ts');
    const { newKeySchema } = await import('../accounts/wire.ts');
    const { keyInput } = await import('../accounts/keys.ts');
    const input = keyInput(
      checked(newKeySchema, { name, preset, scopes: scope, streams: stream, actor, expires_at: expires }),
    );
    await issueAndShow('keys create', flags, (transaction, issuing) => issueKey(transaction, input, issuing));
  },
});

const rotateCommand = command({
  describe: 'Create an API key that replaces another, which stays valid for a while',
  operands: { id: { required: true, describe: 'ID of the key to replace' } },
  flags: {
    ...placeOptions,
    overlap: { type: 'number', default: 24, describe: 'Hours during which both keys are valid' },
    expires: EXPIRES,
  },
  async work({ id, overlap, expires, ...flags }) {
    const { rotateKey } = await import('../accounts/api-keys.ts');
    const { rotationSchema } = await import('../accounts/wire.ts');
    const rotation = checked(rotationSchema, { overlap_seconds: Math.round(overlap * 3600), expires_at: expires });
    await issueAndShow('keys rotate', flags, (transaction, issuing) => rotateKey(transaction, id, rotation, issuing));
  },
});

const revokeCommand = command({
  describe: 'Revoke an API key immediately',
  operands: { id: { required: true, describe: 'ID of the key' } },
  flags: placeOptions,
  async work({ id, ...flags }) {
    const { revokeKey } = await import('../accounts/api-keys.ts');
    await inPlace(flags, async ({ database, clock, administration }) => {
      const issuing = { actor: byCommand('keys revoke'), now: clock(), administration };
      const key = await database.write((transaction) => revokeKey(transaction, id, issuing));
      say(`The API key ${key.key_id} ("${key.name}") was revoked at ${key.revoked_at}.`);
    });
  },
});

const COLUMNS = ['id', 'name', 'scopes', 'created', 'ends', 'last used', 'in place of'].map((title) => ({ title }));

const listCommand = command({
  describe: 'List the API keys',
  flags: placeOptions,
  async work(flags) {
    const { allKeys } = await import('../accounts/api-keys.ts');
    const { formatTable } = await import('../../core/terminal/table.ts');
    const keys = await inPlace(flags, ({ database }) => allKeys(database));
    process.stdout.write(`${formatTable(COLUMNS, keys.map(cellsOf))}\n`);
  },
});

/** `evidence-platform keys`: manages API keys with access to the database. */
export const keysCommands: Record<string, PlatformCommand> = {
  keys: {
    describe: 'Create, list, rotate and revoke API keys',
    demand: 'Choose a command: keys create, list, rotate or revoke.',
  },
  'keys create': createCommand,
  'keys list': listCommand,
  'keys rotate': rotateCommand,
  'keys revoke': revokeCommand,
};

/** Issues a key and shows it; undoes the issue if it cannot be shown. */
async function issueAndShow(
  command: string,
  flags: PlatformFlags,
  issue: (transaction: Transaction, issuing: Issuing) => Promise<IssuedKey & { old?: ApiKey }>,
): Promise<void> {
  const { withdrawKey } = await import('../accounts/api-keys.ts');
  await inPlace(flags, async ({ database, clock, administration }, { dataDir }) => {
    const issuing = { actor: byCommand(command), now: clock(), administration };
    const issued = await database.write((transaction) => issue(transaction, issuing)).catch(byFlag);
    try {
      await showKey(`${issued.text}\n`, dataDir);
    } catch (error) {
      await database.write((transaction) => withdrawKey(transaction, issued, issuing));
      throw error;
    }
    const { key_id, name, scopes, expires_at } = issued.key;
    const end = expires_at === null ? 'it does not expire' : `it expires at ${expires_at}`;
    say(`Created the API key ${key_id} ("${name}") with ${scopes.join(', ')}; ${end}. It is shown only once.`);
  });
}

/** Flags by the names in the API. */
const FLAGS: Record<string, string> = {
  expires_at: '--expires',
  overlap_seconds: '--overlap',
  name: '--name',
  preset: '--preset',
  streams: '--stream',
  actor: '--actor',
};

function checked<T extends z.ZodType>(schema: T, given: unknown): z.infer<T> {
  const read = schema.safeParse(given);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  const flag = FLAGS[String(issue?.path[0])] ?? '--scope';
  throw new EvidenceError('usage', `${flag}: ${issue === undefined ? 'is invalid' : inPlainWords(issue)}`);
}

/** Rethrows a refusal with the name of the flag. */
function byFlag(error: unknown): never {
  if (!(error instanceof DomainError) || error.code !== 'invalid_request') throw error;
  const said = sayRefusal(error, (field) => FLAGS[field] ?? field);
  throw new EvidenceError('usage', said, { cause: error });
}

function cellsOf(key: ApiKey): string[] {
  const end = key.revoked_at === null ? (key.expires_at ?? 'never') : `revoked ${key.revoked_at}`;
  const scopes = key.scopes.join(' ');
  return [key.key_id, key.name, scopes, key.created_at, end, key.last_used_at ?? 'never', key.rotated_from ?? '–'];
}

/** Writes to standard error, because a new key or link stands alone on standard output. */
export function say(line: string): void {
  process.stderr.write(`${escapeControls(line)}\n`);
}

/**
 * Writes a text with a new API key to standard output, and waits until it is written.
 * @param where owner of the key, as in "the API key of ./data".
 * @throws EvidenceError `output`, after which the caller has to undo the issue.
 */
export function showKey(lines: string, where: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  process.stdout.write(lines, (cause) => {
    if (!cause) return resolve();
    const message = `the API key of ${where} could not be printed, so it was discarded`;
    reject(
      new EvidenceError('output', message, {
        nextStep: 'Run the command again with a writable standard output.',
        cause,
      }),
    );
  });
  return promise;
}
