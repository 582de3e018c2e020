import { type Dispatcher, request } from 'undici';

/** Request of a notification. */
export interface Posted {
  url: string;
  headers?: Record<string, string>;
  body: string;
}

/**
 * Sends one request, once. Redirects are not followed, and the answer's body is not read.
 * @throws Error that names neither path nor query, which may be secrets.
 */
export async function post(
  { url, headers = {}, body }: Posted,
  { dispatcher, signal }: { dispatcher: Dispatcher; signal: AbortSignal },
): Promise<void> {
  const { host } = new URL(url);
  let statusCode: number;
  try {
    const answer = await request(url, { dispatcher, method: 'POST', headers, body, signal });
    statusCode = answer.statusCode;
    answer.body.on('error', () => {}).destroy();
  } catch (error) {
    const { code, name } = error as NodeJS.ErrnoException;
    throw new Error(`${host} did not answer (${signal.aborted ? 'out of time' : (code ?? name)})`);
  }
  if (statusCode < 200 || statusCode > 299) throw new Error(`${host} answered ${statusCode}`);
}
