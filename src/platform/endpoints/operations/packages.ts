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
        'Archives are imported by `evidence-platform packages import`. `packages` were first listed by this archive; the files of those that are `opened` are known.',
      query: pageQuerySchema,
      answer: pageSchema(signedArchiveSchema),
      work: ({ query }) => archives(query),
    }),
  };
}
