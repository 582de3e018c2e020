import type { FastifyRequest } from 'fastify';
import type { Markup } from '../../../core/html/markup.ts';
import type { Scope } from '../../scopes.ts';
import { personOf } from '../../web/access.ts';
import type { AuditService } from '../service.ts';

export interface AuditPageParts {
  service: AuditService;
}

/** What only who has a scope is shown. */
export function forWhoMay(request: FastifyRequest, scope: Scope, content: () => Markup): Markup | null {
  return personOf(request).scopes.includes(scope) ? content() : null;
}

/** Rows of a list on its own page, and of the same list on the page of its stream. */
export const ROWS = 25;
export const FEW_ROWS = 5;

/** What a page was asked for. It was checked by the schema of its route. */
export function queryOf<T>({ query }: FastifyRequest): T {
  return query as T;
}

export function paramsOf<T>({ params }: FastifyRequest): T {
  return params as T;
}
