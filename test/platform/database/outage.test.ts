import { expect, test } from 'vitest';
import { asOutage, firstCause, outageIn } from '../../../src/platform/database/outage.ts';
import { jobLog } from '../../../src/platform/jobs/looking.ts';

const refused = (address: string) =>
  Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' });

/** Error of Node.js for a name with two addresses, whose own message is empty. */
const BOTH = Object.assign(new AggregateError([refused('::1:5432'), refused('127.0.0.1:5432')]), {
  code: 'ECONNREFUSED',
});

const FULL = Object.assign(new Error('could not extend file "base/5/1": No space left on device'), { code: '53100' });

test.each([
  ['of one address', refused('127.0.0.1:5432'), 'unreachable', 'connect ECONNREFUSED 127.0.0.1:5432'],
  ['of two addresses', BOTH, 'unreachable', 'connect ECONNREFUSED ::1:5432'],
  ['of a full disk', FULL, 'full', 'could not extend file "base/5/1": No space left on device'],
  ['of a defect', new Error('a defect'), null, 'a defect'],
])('the error %s is told apart, and a job logs its true reason', (_what, thrown, outage, reason) => {
  const error = asOutage(thrown);
  expect([outageIn(error), (firstCause(error) as Error).message]).toEqual([outage, reason]);
  const logged: unknown[] = [];
  const log = jobLog({ error: (told: unknown) => logged.push(told) } as never);
  log('outbox').failed(error);
  expect(logged).toEqual([{ job: 'outbox', reason }]);
});
