import { readFile } from 'node:fs/promises';
import { request } from 'undici';
import { EvidenceError } from '../../core/errors.ts';

/** A token, and where it says that it is good. */
export interface FoundToken {
  url: string;
  token: string;
}

/** Reads the file of a trap, as somebody would who looks for credentials. */
export async function readToken(path: string): Promise<FoundToken> {
  return tokenIn(await readFile(path, 'utf8'));
}

/** @throws EvidenceError `unreadable` for a file without one. */
export function tokenIn(text: string): FoundToken {
  const [, address = '', token = ''] = /^API_URL=(\S+)\nAPI_TOKEN=(\S+)$/m.exec(text) ?? [];
  const url = URL.parse(address);
  if (url === null || token === '') throw new EvidenceError('unreadable', 'the file of the trap has no token in it');
  return { url: `${url.origin}${url.pathname}`, token };
}

/** Tries the token where it says. @returns the status of the answer. */
export async function useToken({ url, token }: FoundToken, signal: AbortSignal): Promise<number> {
  const { statusCode, body } = await request(`${url}/customers`, {
    headers: { authorization: `Bearer ${token}`, 'user-agent': 'curl/8.5.0' },
    signal,
  });
  await body.dump();
  return statusCode;
}
