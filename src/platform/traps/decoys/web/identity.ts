import type { TrapMark } from '../../use.ts';
import type { DecoyDeps, FoundTrap } from '../decoy.ts';
import type { WebRequest } from './web-request.ts';

/** Identity that a request claims. */
export interface Identity {
  /** True if the request presents a possible secret. */
  isShown: boolean;
  trap: FoundTrap | null;
  /** True if the request presents the secret of the trap, and not only its name. */
  isVerified: boolean;
}

interface Shown {
  /** Marks of the possible secrets. */
  secrets: TrapMark[];
  /** Marks of the names of traps whose secrets may have been presented. */
  names: TrapMark[];
}

const SECRET_HEADERS = ['private-token', 'job-token', 'x-api-key', 'x-auth-token', 'api-key', 'apikey'];
const SECRET_QUERIES = ['access_token', 'private_token', 'api_key', 'apikey', 'token'];

/** Identifies the trap. Runs both lookups for every identity, so that known and unknown ones take equally long. */
export async function identify(request: WebRequest, find: DecoyDeps['find']): Promise<Identity> {
  const { secrets, names } = shownIn(request);
  if (secrets.length === 0) return { isShown: false, trap: null, isVerified: false };
  const [bySecret, byName] = await Promise.all([find(secrets), find(names)]);
  return { isShown: true, trap: bySecret ?? byName, isVerified: bySecret !== null };
}

function shownIn({ headers, query, method, body }: WebRequest): Shown {
  const values = SECRET_HEADERS.map((name) => headers.get(name));
  const [, scheme = '', credentials = ''] = /^(\S+) +(.*)$/.exec(headers.get('authorization') ?? '') ?? [];
  const isBasic = scheme.toLowerCase() === 'basic';
  const [user, password] = isBasic ? pairOf(credentials) : [];
  const asked = [new URLSearchParams(query), new URLSearchParams(method === 'POST' ? formIn(headers, body) : '')];
  const secrets = [
    isBasic ? undefined : credentials,
    user,
    password,
    ...values,
    ...asked.flatMap((given) => [...SECRET_QUERIES, 'client_secret', 'password'].map((name) => given.get(name))),
  ].filter((value) => typeof value === 'string' && value !== '') as string[];
  const users = [user, ...asked.flatMap((given) => [given.get('client_id'), given.get('username')])];
  return {
    secrets: [...new Set(secrets)].map((value) => ({ kind: 'bearer', value })),
    names: [
      ...users.filter((value) => typeof value === 'string').map((value) => ({ kind: 'basic' as const, value })),
      ...secrets.map(tokenIdOf).filter((mark) => mark !== null),
    ],
  };
}

function pairOf(credentials: string): [string, string] {
  const text = Buffer.from(credentials, 'base64').toString();
  const colon = text.indexOf(':');
  return colon < 0 ? [text, ''] : [text.slice(0, colon), text.slice(colon + 1)];
}

function formIn(headers: WebRequest['headers'], body: Buffer): string {
  return headers.get('content-type')?.startsWith('application/x-www-form-urlencoded') === true
    ? body.toString('latin1')
    : '';
}

/** Returns the `jti` of a JSON Web Token, whatever its signature (RFC 7519 section 4.1.7). */
function tokenIdOf(token: string): TrapMark | null {
  const [, payload] = /^[\w-]+\.([\w-]+)\.[\w-]*$/.exec(token) ?? [];
  if (payload === undefined) return null;
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const id = typeof claims === 'object' && claims !== null && 'jti' in claims ? claims.jti : undefined;
    return typeof id === 'string' ? { kind: 'token_id', value: id } : null;
  } catch {
    return null;
  }
}
