import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { EndpointService } from '../service.ts';
import { signedArchiveSchema } from '../wire/events.ts';

const PACKAGES = operationGroup('endpoints', 'packages');

export function packageOperations({ archives }: EndpointService) {
  return {
    listSignedArchives: PACKAGES.get('/packages/', {
      summary: 'List the signed archives whose packages explain changes, newest first',
      description:
        '`evidence-platform packages import` imports archives. `packages` counts the packages that this archive listed first, and `opened` those whose files are known.',
      query: pageQuerySchema,
      answer: pageSchema(signedArchiveSchema),
      work: ({ query }) => archives(query),
    }),
  };
}
