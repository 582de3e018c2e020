import { operation } from '../../operations/operation.ts';
import type { TrapService } from '../service.ts';
import { importedKeySchema, madeTrapSchema, provisionedKeySchema } from '../wire.ts';

/** Returns the operations that make traps of keys of a real account of AWS. */
export function realKeyOperations({ realKeys }: TrapService) {
  return {
    importTrap: operation({
      method: 'POST',
      path: '/credentials/import',
      scope: 'traps:write',
      tag: 'credentials',
      summary: 'Take an access key that AWS knows as a trap',
      body: importedKeySchema,
      isKeyed: true,
      status: 201,
      answer: madeTrapSchema,
      refusals: [409, 422],
      work: ({ actor, body, key }) => realKeys.import(actor, body, key),
    }),
    provisionTrap: operation({
      method: 'POST',
      path: '/credentials/provision',
      scope: 'traps:write',
      tag: 'credentials',
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
