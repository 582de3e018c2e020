import type { FastifyRequest } from 'fastify';
import { shellWord } from '../../core/shell.ts';
import { apiOrigin } from './origin.ts';

export interface ApiCall {
  /** Method; GET by default. */
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  body?: object;
}

/**
 * Returns a call of the API as a shell command. The key is in a variable, because the shell's history keeps commands.
 */
export function curlCommand(request: FastifyRequest, { method = 'GET', path, body }: ApiCall): string {
  const words = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellWord(apiOrigin(request) + path)}`,
    `-H "Authorization: Bearer $EVIDENCE_API_KEY"`,
    ...(method !== 'POST' ? [] : [`-H "Idempotency-Key: $(uuidgen)"`]),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${shellWord(JSON.stringify(body))}`]),
  ];
  return words.join(' \\\n  ');
}
