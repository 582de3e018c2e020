import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { TrapService } from '../service.ts';
import {
  confirmationSchema,
  importedKeySchema,
  madeTrapSchema,
  newTrapSchema,
  provisionedKeySchema,
  realismSchema,
  testResultsSchema,
  trapParamsSchema,
  trapQuerySchema,
  trapSchema,
} from '../wire.ts';

const CREDENTIALS = operationGroup('traps', 'credentials');

// Over 40 lines: it is the list of operations.
export function credentialOperations({ traps, proving, realism }: TrapService) {
  const act = (name: 'revoke' | 'reset', summary: string) =>
    CREDENTIALS.post(`/credentials/:credential_id/${name}`, {
      summary,
      params: trapParamsSchema,
      answer: trapSchema,
      refusals: [404, 409],
      work: ({ actor, params }) => traps[name](actor, params.credential_id),
    });
  return {
    generateTrap: CREDENTIALS.post('/credentials/generate', {
      summary: 'Create a trap credential, which is returned only once',
      body: newTrapSchema,
      isKeyed: true,
      status: 201,
      answer: madeTrapSchema,
      refusals: [409, 422],
      work: ({ actor, body, key }) => traps.generate(actor, body, key),
    }),
    listTraps: CREDENTIALS.get('/credentials/', {
      summary: 'List trap credentials, newest first, without their secrets',
      query: trapQuerySchema,
      answer: pageSchema(trapSchema),
      refusals: [422],
      work: ({ query }) => traps.list(query),
    }),
    getTrap: CREDENTIALS.get('/credentials/:credential_id', {
      summary: 'Get a trap credential without its secret',
      params: trapParamsSchema,
      answer: trapSchema,
      refusals: [404],
      work: ({ params }) => traps.find(params.credential_id),
    }),
    checkRealism: CREDENTIALS.get('/credentials/:credential_id/realism', {
      summary: 'Check what could reveal that a credential is a trap, with next steps',
      params: trapParamsSchema,
      answer: realismSchema,
      refusals: [404],
      work: async ({ params }) => ({ data: await realism.check(params.credential_id) }),
    }),
    confirmTrap: CREDENTIALS.post('/credentials/:credential_id/confirm', {
      summary: 'Confirm that a trap credential was planted',
      params: trapParamsSchema,
      body: confirmationSchema,
      answer: trapSchema,
      refusals: [404, 409, 422],
      work: ({ actor, params, body }) => traps.confirm(actor, params.credential_id, body.planted_at),
    }),
    testTrap: CREDENTIALS.post('/credentials/:credential_id/test', {
      summary: 'Test the channels of a trap credential with marked uses',
      params: trapParamsSchema,
      answer: testResultsSchema,
      refusals: [404],
      work: async ({ actor, params }) => ({ data: await proving.test(actor, params.credential_id) }),
    }),
    rotateTrap: CREDENTIALS.post('/credentials/:credential_id/rotate', {
      summary: 'Rotate a trap credential: create its replacement; uses of the old one are still detected',
      params: trapParamsSchema,
      isKeyed: true,
      status: 201,
      answer: madeTrapSchema,
      refusals: [404, 409, 422],
      work: ({ actor, params, key }) => traps.rotate(actor, params.credential_id, key),
    }),
    revokeTrap: act('revoke', 'Revoke a trap credential; its uses are still detected'),
    resetTrap: act('reset', 'Reset a triggered trap credential; its detections are kept'),
  };
}

/** Returns the operations on traps that are keys of a real AWS account. */
export function realKeyOperations({ realKeys }: TrapService) {
  return {
    importTrap: CREDENTIALS.post('/credentials/import', {
      summary: 'Import an AWS access key as a trap',
      body: importedKeySchema,
      isKeyed: true,
      status: 201,
      answer: madeTrapSchema,
      refusals: [409, 422],
      work: ({ actor, body, key }) => realKeys.import(actor, body, key),
    }),
    provisionTrap: CREDENTIALS.post('/credentials/provision', {
      summary: 'Create an IAM user without permissions, and use its access key as a trap',
      body: provisionedKeySchema,
      isKeyed: true,
      status: 201,
      answer: madeTrapSchema,
      refusals: [409, 422],
      work: ({ actor, body, key }) => realKeys.provision(actor, body, key),
    }),
  };
}
