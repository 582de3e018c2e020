import { operation } from '../../operations/operation.ts';
import { toGenerated } from '../evidence.ts';
import type { AuditService } from '../service.ts';
import { generatedSchema, packageParamsSchema } from '../wire.ts';

/** Returns the operations on evidence packages. */
export function evidenceOperations(service: AuditService) {
  return {
    readPackage: operation({
      method: 'GET',
      path: '/evidence/:package_id',
      scope: 'audit:read',
      tag: 'evidence',
      summary: 'An evidence package',
      params: packageParamsSchema,
      answer: generatedSchema,
      refusals: [404, 409],
      work: async ({ params }) => toGenerated(await service.evidence.find(params.package_id)),
    }),
  };
}
