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
      summary: 'Make a trap credential, which is answered this once',
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
      summary: 'Check what could tell somebody that a credential is a trap, and what to do about it',
      params: trapParamsSchema,
      answer: realismSchema,
      refusals: [404],
      work: async ({ params }) => ({ data: await realism.check(params.credential_id) }),
    }),
    confirmTrap: CREDENTIALS.post('/credentials/:credential_id/confirm', {
      summary: 'Note that a trap credential was planted',
      params: trapParamsSchema,
      body: confirmationSchema,
      answer: trapSchema,
      refusals: [404, 409, 422],
      work: ({ actor, params, body }) => traps.confirm(actor, params.credential_id, body.planted_at),
    }),
    testTrap: CREDENTIALS.post('/credentials/:credential_id/test', {
      summary: 'Prove that the channels of a trap credential see its use, by a marked use of each',
      params: trapParamsSchema,
      answer: testResultsSchema,
      refusals: [404],
      work: async ({ actor, params }) => ({ data: await proving.test(actor, params.credential_id) }),
    }),
    rotateTrap: CREDENTIALS.post('/credentials/:credential_id/rotate', {
      summary: 'Make a trap credential in the place of another, which stays a trap',
      params: trapParamsSchema,
      isKeyed: true,
      status: 201,
      answer: madeTrapSchema,
      refusals: [404, 409, 422],
      work: ({ actor, params, key }) => traps.rotate(actor, params.credential_id, key),
    }),
    revokeTrap: act('revoke', 'End a trap credential; its uses are detections still'),
    resetTrap: act('reset', 'Have a triggered trap credential stand as before; its detections stay'),
  };
}

/** Returns the operations on traps that are keys of a real AWS account. */
export function realKeyOperations({ realKeys }: TrapService) {
  return {
    importTrap: CREDENTIALS.post('/credentials/import', {
      summary: 'Take an access key that AWS knows as a trap',
      body: importedKeySchema,
      isKeyed: true,
      status: 201,
      answer: madeTrapSchema,
      refusals: [409, 422],
      work: ({ actor, body, key }) => realKeys.import(actor, body, key),
    }),
    provisionTrap: CREDENTIALS.post('/credentials/provision', {
      summary: 'Make a user of IAM without any rights, and take a key of theirs as a trap',
      body: provisionedKeySchema,
      isKeyed: true,
      status: 201,
      answer: madeTrapSchema,
      refusals: [409, 422],
      work: ({ actor, body, key }) => realKeys.provision(actor, body, key),
    }),
  };
}
