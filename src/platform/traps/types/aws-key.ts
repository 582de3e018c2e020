import { randomInt } from 'node:crypto';
import { z } from 'zod';
import { invalidField } from '../../errors.ts';
import { ACCOUNT_ID, isCanaryAccount, newAccountId, newAwsId, newSecretAccessKey } from '../aws/access-key.ts';
import type { DecoyPlace } from '../decoys/decoy.ts';
import { pickOne } from '../decoys/names.ts';
import type { Channel } from '../enums.ts';
import { type Artifact, type MadeTrap, readOptions, type TrapType } from './type.ts';

const optionsSchema = z.strictObject({
  /** The account that the key names; by default a random one that no public list of traps has. */
  account_id: z.string().regex(ACCOUNT_ID, 'is not of twelve digits').optional(),
  region: z
    .string()
    .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'is not written as us-east-1 is')
    .default('us-east-1'),
});

/** The facts about an access key. */
export interface AwsKey {
  accessKeyId: string;
  /** Null for an imported one whose secret nobody told. */
  secret: string | null;
  accountId: string | null;
  userName: string | null;
  /** As IAM calls the user; null where it is not known. */
  userId: string | null;
  region: string;
}

const CHANNELS: readonly Channel[] = ['aws_decoy', 'aws_cloudtrail', 'aws_last_used'];

/** An access key of AWS, for the file that every SDK reads. */
export const awsKey: TrapType = {
  type: 'aws_key',
  decoy: 'aws',
  needsDecoy: true,
  async make(input) {
    const { account_id: accountId = newAccountId(), region } = readOptions(optionsSchema, input);
    if (isCanaryAccount(accountId))
      throw invalidField('options.account_id', `scanners know ${accountId} as an account of traps`);
    const ids = { accessKeyId: newAwsId('AKIA', accountId), userId: `${newAwsId('AIDA', accountId)}${idEnd()}` };
    return awsTrapOf({ ...ids, secret: newSecretAccessKey(), accountId, userName: newUserName(), region }, input.decoy);
  },
};

/** A user's id has one character more than a key's. */
const idEnd = () => newAwsId('', '0').slice(-1);

/** A key as a trap, whoever made it. */
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

/** All in one file: whoever copies it has the address with the key. */
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
      'Put the file into the home folder of a user, or its lines into a profile of their own in one that is there.',
      ...(decoy === null ? [] : ['Keep endpoint_url with the key: it leads whoever uses it to the decoy.']),
      'To have it look used, name the profile as a job that the machine runs, and give the file the age of its neighbours.',
    ].join(' '),
  };
}

const TASKS = ['backup', 'deploy', 'billing', 'reports', 'etl', 'media', 'artifacts', 'terraform', 'logs', 'mailer'];
const PLACES = ['prod', 'stage', 'ci', 'legacy', 'eu', 'us', 'svc', 'ops', 'data', 'core'];

/** A name that a user of IAM may have who is a program. */
export function newUserName(): string {
  const [task, place] = [pickOne(TASKS), pickOne(PLACES)];
  const name = randomInt(2) === 0 ? `${task}-${place}` : `${place}-${task}`;
  return randomInt(3) === 0 ? `svc-${name}` : name;
}
