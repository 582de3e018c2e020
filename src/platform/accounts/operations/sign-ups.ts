import { pageQuerySchema } from '../../http/fields.ts';
import { pageSchema } from '../../http/wire.ts';
import { operationGroup } from '../../operations/operation.ts';
import type { Accounts } from '../accounts.ts';
import { personSchema, signUpParamsSchema, signUpSchema } from '../wire.ts';

const PEOPLE = operationGroup('people', 'people');

export function signUpOperations({ people, signUps }: Pick<Accounts, 'people' | 'signUps'>) {
  return {
    listSignUps: PEOPLE.get('/sign-ups', {
      summary: 'List the people who signed up and wait for approval, the longest first',
      query: pageQuerySchema,
      answer: pageSchema(signUpSchema),
      refusals: [422],
      work: ({ query }) => signUps.list(query),
    }),
    approveSignUp: PEOPLE.post('/sign-ups/:sign_up_id/approve', {
      summary: 'Approve a sign-up: the person becomes an auditor',
      params: signUpParamsSchema,
      answer: personSchema,
      refusals: [404, 409],
      work: async ({ actor, params }) => people.find(await signUps.approve(actor, params.sign_up_id)),
    }),
    declineSignUp: PEOPLE.post('/sign-ups/:sign_up_id/decline', {
      summary: 'Decline a sign-up: nothing about the person is kept',
      params: signUpParamsSchema,
      answer: signUpSchema,
      refusals: [404],
      work: ({ actor, params }) => signUps.decline(actor, params.sign_up_id),
    }),
  };
}
