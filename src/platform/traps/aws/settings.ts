import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { EvidenceError, messageOf } from '../../../core/errors.ts';
import { ACCESS_KEY_ID, SECRET_ACCESS_KEY } from '../enums.ts';

/** AWS credentials of the platform. */
export interface AwsAccess {
  accessKeyId: string;
  secret: string;
  region: string;
  /** Endpoint instead of AWS's public one; null for the public one. */
  endpoint: string | null;
}

/** Bucket that a trail writes to. */
export interface TrailBucket {
  access: AwsAccess;
  bucket: string;
  prefix: string;
  everyMinutes: number;
}

export interface AwsSettings {
  /** User that may read last uses of keys and create users; null if none is configured. */
  iam: AwsAccess | null;
  trail: TrailBucket | null;
}

export const NO_AWS: AwsSettings = { iam: null, trail: null };

const access = {
  access_key_id: z.string().regex(ACCESS_KEY_ID, 'is not the id of an access key'),
  secret_access_key_file: z.string().min(1),
  region: z.string().min(1).default('us-east-1'),
  endpoint_url: z.url({ protocol: /^https?$/ }).optional(),
};

export const awsFileSchema = z.strictObject(access);
export const trailFileSchema = z.strictObject({
  ...access,
  bucket: z.string().min(3).max(63),
  prefix: z.string().max(500).default(''),
  every_minutes: z.int().min(1).max(1440).default(5),
});

interface InFile {
  aws?: z.output<typeof awsFileSchema> | undefined;
  cloudtrail?: z.output<typeof trailFileSchema> | undefined;
}

/** @param inFolder resolves a path in the settings file. @throws EvidenceError `config`. */
export function toAwsSettings({ aws, cloudtrail }: InFile, inFolder: (path: string) => string): AwsSettings {
  return {
    iam: aws === undefined ? null : toAccess('aws', aws, inFolder),
    trail:
      cloudtrail === undefined
        ? null
        : {
            access: toAccess('cloudtrail', cloudtrail, inFolder),
            bucket: cloudtrail.bucket,
            prefix: cloudtrail.prefix,
            everyMinutes: cloudtrail.every_minutes,
          },
  };
}

function toAccess(
  setting: string,
  { access_key_id, secret_access_key_file, region, endpoint_url }: z.output<typeof awsFileSchema>,
  inFolder: (path: string) => string,
): AwsAccess {
  const secret = readSecret(`${setting}.secret_access_key_file`, inFolder(secret_access_key_file));
  return { accessKeyId: access_key_id, secret, region, endpoint: endpoint_url ?? null };
}

function readSecret(setting: string, path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new EvidenceError('config', `${setting}: ${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
  if (SECRET_ACCESS_KEY.test(text)) return text;
  throw new EvidenceError('config', `${setting}: ${path} has no secret access key, which has forty characters`);
}
