import type { AuditService } from '../service.ts';

export interface AuditPageParts {
  service: AuditService;
}

/** Rows of a list on its own page, and of the same list on the page of its stream. */
export const ROWS = 25;
export const FEW_ROWS = 5;
