import { randomBytes } from 'node:crypto';
import type { DecoyDeps, FoundTrap } from '../decoy.ts';
import { sendTo } from '../incoming.ts';
import { authenticationMessage, errorMessage, fatalError, type PostgresError } from './messages.ts';
import {
  checkWhole,
  isProof,
  readClientFinal,
  readClientFirst,
  SCRAM_ITERATIONS,
  saltOf,
  scramKeys,
  scramNonce,
  serverSignature,
} from './scram.ts';
import type { Startup } from './startup.ts';

/** Maximum length of a message, as PG_MAX_SASL_MESSAGE_LENGTH. */
const LONGEST = 1024;
const PLAIN = 'SCRAM-SHA-256';
const BOUND = 'SCRAM-SHA-256-PLUS';

export interface LoginDeps {
  find: DecoyDeps['find'];
  /** Key from which salts are derived. */
  saltKey: Uint8Array;
  /** Channel binding data of the type tls-server-end-point (RFC 5929). */
  certificateHash: Uint8Array;
}

/** Result of a login. */
interface LoginOutcome {
  trap: FoundTrap | null;
  /** True if the client proved the password; null if the exchange ended before. */
  verified: boolean | null;
  /** Answer to the client; null if the client does not wait for one. */
  answer: Buffer | null;
}

/** State of the exchange. */
interface Exchange extends LoginDeps {
  startup: Startup;
  outcome: LoginOutcome;
}

/**
 * Asks for a password, for known and unknown users alike. Leaves the last message unanswered, so that the caller can
 * record the login first.
 */
export async function authenticate(startup: Startup, deps: LoginDeps): Promise<LoginOutcome> {
  const trap = await deps.find([{ kind: 'postgres_login', value: startup.user }]);
  const outcome: LoginOutcome = { trap, verified: null, answer: null };
  const error = await exchange({ ...deps, startup, outcome });
  if (error !== null) outcome.answer = errorMessage(error);
  return outcome;
}

async function exchange(state: Exchange): Promise<PostgresError | null> {
  const { startup, certificateHash, saltKey, outcome } = state;
  const { stream, user } = startup;
  const begun = await firstWords(startup);
  if (begun === null || 'code' in begun) return begun;
  const { message, isBound } = begun;
  const first = checkWhole(message) ?? readClientFirst(message, isBound);
  if ('code' in first) return first;
  const nonce = first.nonce + scramNonce();
  const salt = saltOf(saltKey, user);
  const serverFirst = `r=${nonce},s=${salt.toString('base64')},i=${SCRAM_ITERATIONS}`;
  // Unknown users cause the same work as known ones.
  const password = outcome.trap?.credential['password'];
  const keys = await scramKeys(
    typeof password === 'string' ? password : randomBytes(24).toString(),
    salt,
    SCRAM_ITERATIONS,
  );
  await sendTo(stream, authenticationMessage(11, Buffer.from(serverFirst)));
  const answered = await readResponse(startup);
  if (answered === null || !Buffer.isBuffer(answered)) return answered;
  const text = answered.toString('latin1');
  const final = checkWhole(text) ?? readClientFinal(text, first.header, isBound ? certificateHash : null);
  if ('code' in final) return final;
  if (final.nonce !== nonce) return wrongNonce;
  const whole = `${first.bare},${serverFirst},${final.withoutProof}`;
  outcome.verified = isProof(keys, whole, final.proof) && outcome.trap !== null;
  if (!outcome.verified) return failed(user);
  const done = Buffer.from(`v=${serverSignature(keys, whole)}`);
  outcome.answer = Buffer.concat([authenticationMessage(12, done), authenticationMessage(0)]);
  return null;
}

/** Starts the SASL exchange. @returns the client's first message, and whether the client uses channel binding. */
async function firstWords(startup: Startup): Promise<{ message: string; isBound: boolean } | PostgresError | null> {
  const { stream, isTls } = startup;
  await sendTo(stream, authenticationMessage(10, ...(isTls ? [BOUND] : []), PLAIN, ''));
  const initial = await readResponse(startup);
  if (initial === null || !Buffer.isBuffer(initial)) return initial;
  const { mechanism, message } = readInitial(initial);
  const isBound = isTls && mechanism === BOUND;
  if (!isBound && mechanism !== PLAIN) return invalidMechanism;
  if (message !== null) return { message, isBound };
  await sendTo(stream, authenticationMessage(11));
  const next = await readResponse(startup);
  return next === null || !Buffer.isBuffer(next) ? next : { message: next.toString('latin1'), isBound };
}

/** Reads the client's response; an error if the message is out of place, null if the client has disconnected. */
async function readResponse({ incoming, user }: Startup): Promise<Buffer | PostgresError | null> {
  const type = (await incoming.take(1))?.[0];
  if (type === undefined) return null;
  if (type !== 0x70) return unexpectedType(type);
  const length = (await incoming.take(4))?.readUInt32BE();
  if (length === undefined) return null;
  return length < 4 || length - 4 > LONGEST ? failed(user) : incoming.take(length - 4);
}

/** Reads the initial response, which specifies a mechanism and may contain the client's first message. */
function readInitial(body: Buffer): { mechanism: string; message: string | null } {
  const end = body.indexOf(0);
  if (end === -1 || body.length < end + 5) return { mechanism: '', message: null };
  const length = body.readInt32BE(end + 1);
  const words = body.subarray(end + 5, end + 5 + Math.max(0, length));
  return { mechanism: body.toString('latin1', 0, end), message: length < 0 ? null : words.toString('latin1') };
}

function failed(user: string): PostgresError {
  return fatalError('28P01', `password authentication failed for user "${user}"`, 'auth.c:334 auth_failed');
}

function unexpectedType(type: number): PostgresError {
  return fatalError('08P01', `expected SASL response, got message type ${type}`, 'auth-sasl.c:95 CheckSASLAuth');
}

const invalidMechanism = fatalError(
  '08P01',
  'client selected an invalid SASL authentication mechanism',
  'auth-scram.c:256 scram_init',
);
const wrongNonce = fatalError(
  '08P01',
  'invalid SCRAM response',
  'auth-scram.c:404 scram_exchange',
  'Nonce does not match.',
);
