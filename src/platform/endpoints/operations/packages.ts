import { pageSchema } from '../../http/wire.ts';
import { operation } from '../../operations/operation.ts';
import type { EndpointService } from '../service.ts';
import { packagesQuerySchema, signedArchiveSchema } from '../wire/events.ts';

/** Returns the operations on signed packages. */
export function packageOperations({ archives }: EndpointService) {
  return {
    listSignedArchives: operation({
      method: 'GET',
      path: '/packages/',
      scope: 'endpoints:read',
      tag: 'packages',
      summary: 'List the signed archives whose packages explain changes, newest first',
      description:
        'Archives are imported by `evidence-platform packages import`. `packages` were first listed by this archive; the files of those that are `opened` are known.',
      query: packagesQuerySchema,
      answer: pageSchema(signedArchiveSchema),
      work: ({ query }) => archives(query),
    }),
  };
}
