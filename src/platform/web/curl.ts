import type { FastifyRequest } from 'fastify';
import { shellWord } from '../../core/shell.ts';
import { apiOrigin } from './origin.ts';

export interface ApiCall {
  /** GET unless said. */
  method?: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  path: string;
  body?: object;
}

/** A call of the API, as a command for a shell. The key is in a variable: a command stays in the shell's history. */
export function curlCommand(request: FastifyRequest, { method = 'GET', path, body }: ApiCall): string {
  const words = [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${shellWord(apiOrigin(request) + path)}`,
    `-H "Authorization: Bearer $EVIDENCE_API_KEY"`,
    ...(method !== 'POST' ? [] : [`-H "Idempotency-Key: $(uuidgen)"`]),
    ...(body === undefined ? [] : [`-H 'Content-Type: application/json'`, `-d ${shellWord(JSON.stringify(body))}`]),
  ];
  return words.join(' \\\n  ');
}
