import { randomInt } from 'node:crypto';
import { pickOne } from '../decoys/names.ts';

const TASKS = ['backup', 'deploy', 'billing', 'reports', 'etl', 'media', 'artifacts', 'terraform', 'logs', 'mailer'];
const PLACES = ['prod', 'stage', 'ci', 'legacy', 'eu', 'us', 'svc', 'ops', 'data', 'core'];

/** A name that a user of IAM may have who is a program. */
export function newUserName(): string {
  const [task, place] = [pickOne(TASKS), pickOne(PLACES)];
  const name = randomInt(2) === 0 ? `${task}-${place}` : `${place}-${task}`;
  return randomInt(3) === 0 ? `svc-${name}` : name;
}
