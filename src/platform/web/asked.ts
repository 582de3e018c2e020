import type { FastifyRequest } from 'fastify';
import type { Markup } from '../../core/html/markup.ts';
import type { Scope } from '../scopes.ts';
import { personOf } from './access.ts';

/** Returns the query of a page, which the schema of its route has validated. */
export function queryOf<T>({ query }: FastifyRequest): T {
  return query as T;
}

export function paramsOf<T>({ params }: FastifyRequest): T {
  return params as T;
}

/** Renders content for people who have a scope; null for others. */
export function forWhoMay(request: FastifyRequest, scope: Scope, content: () => Markup | null): Markup | null {
  return personOf(request).scopes.includes(scope) ? content() : null;
}
