import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { invalidField } from '../../errors.ts';
import { ACCOUNT_ID, isCanaryAccount, newAccountId, newAwsId, newSecretAccessKey } from '../aws/access-key.ts';
import type { DecoyPlace } from '../decoys/decoy.ts';
import { pickOne } from '../decoys/names.ts';
import type { Channel } from '../enums.ts';
import { type Artifact, type MadeTrap, readOptions, type TrapType } from './type.ts';

const optionsSchema = z.strictObject({
  /** Account encoded in the key id; by default a random one that is on no public list of traps. */
  account_id: z.string().regex(ACCOUNT_ID, 'must have twelve digits').optional(),
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must have the form us-east-1')
    .default('us-east-1'),
});

/** Facts about an access key. */
export interface AwsKey {
  accessKeyId: string;
  /** Secret of the key; null for an imported key without it. */
  secret: string | null;
  accountId: string | null;
  userName: string | null;
  /** Unique id of the user in IAM; null if unknown. */
  userId: string | null;
  region: string;
}

const CHANNELS: readonly Channel[] = ['aws_decoy', 'aws_cloudtrail', 'aws_last_used'];

/** AWS access key, as the file that every SDK reads. */
export const awsKey: TrapType = {
  type: 'aws_key',
  decoy: 'aws',
  needsDecoy: true,
  async make(input) {
    const { account_id: accountId = newAccountId(), region } = readOptions(optionsSchema, input);
    if (isCanaryAccount(accountId))
      throw invalidField('options.account_id', `${accountId} is on public lists of traps`);
    const ids = { accessKeyId: newAwsId('AKIA', accountId), userId: `${newAwsId('AIDA', accountId)}${idEnd()}` };
    return awsTrapOf({ ...ids, secret: newSecretAccessKey(), accountId, userName: newUserName(), region }, input.decoy);
  },
};

/** Extra character of a user's id, which is one longer than a key's. */
const idEnd = () => newAwsId('', '0').slice(-1);

/** Returns a key as a trap, whatever its origin. */
export function awsTrapOf(key: AwsKey, decoy: DecoyPlace | null): MadeTrap {
  const { accessKeyId, secret, accountId, userName, userId, region } = key;
  return {
    credential: {
      access_key_id: accessKeyId,
      secret_access_key: secret,
      region,
      account_id: accountId,
      user_name: userName,
      user_id: userId,
    },
    artifact: artifactOf(key, decoy),
    marks: [{ kind: 'aws_access_key_id', value: accessKeyId }],
    channels: CHANNELS,
    knownAs: accessKeyId,
  };
}

/** Returns a single file, so that a copy has the address along with the key. */
function artifactOf({ accessKeyId, secret, region }: AwsKey, decoy: DecoyPlace | null): Artifact {
  const lines = [
    '[default]',
    `aws_access_key_id = ${accessKeyId}`,
    ...(secret === null ? [] : [`aws_secret_access_key = ${secret}`]),
    `region = ${region}`,
    ...(decoy === null
      ? []
      : [`endpoint_url = ${decoy.isPlain === true ? 'http' : 'https'}://${decoy.host}:${decoy.port}`]),
  ];
  return {
    filename: '.aws/credentials',
    content: `${lines.join('\n')}\n`,
    instructions: [
      'Put the file into the home folder of a user, or add its lines as a separate profile to an existing file.',
      ...(decoy === null ? [] : ['Keep endpoint_url with the key: it leads users of the key to the decoy.']),
      'To make the file look used, name the profile after a job of the machine, and set the time of the file to that of the files around it.',
    ].join(' '),
  };
}

const TASKS = ['backup', 'deploy', 'billing', 'reports', 'etl', 'media', 'artifacts', 'terraform', 'logs', 'mailer'];
const PLACES = ['prod', 'stage', 'ci', 'legacy', 'eu', 'us', 'svc', 'ops', 'data', 'core'];

/** Returns a plausible name of an IAM user for a program. */
export function newUserName(): string {
  const [task, place] = [pickOne(TASKS), pickOne(PLACES)];
  const name = randomInt(2) === 0 ? `${task}-${place}` : `${place}-${task}`;
  return randomInt(3) === 0 ? `svc-${name}` : name;
}
