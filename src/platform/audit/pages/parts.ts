import type { AuditService } from '../service.ts';

export interface AuditPageParts {
  service: AuditService;
}
