import type { FastifyRequest } from 'fastify';
import type { Markup } from '../../core/html/markup.ts';
import type { Scope } from '../scopes.ts';
import { personOf } from './access.ts';

/** The query of a page, checked by the schema of its route. */
export function queryOf<T>({ query }: FastifyRequest): T {
  return query as T;
}

export function paramsOf<T>({ params }: FastifyRequest): T {
  return params as T;
}

/** Content for people who have a scope. */
export function forWhoMay(request: FastifyRequest, scope: Scope, content: () => Markup | null): Markup | null {
  return personOf(request).scopes.includes(scope) ? content() : null;
}
