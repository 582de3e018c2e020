import type { z } from 'zod';
import type { ServiceSettings } from '../module.ts';
import { type AwsSettings, awsFileSchema, NO_AWS, toAwsSettings, trailFileSchema } from './aws/settings.ts';
import type { DecoySettings } from './decoys/decoy.ts';
import { decoysFileSchema, toDecoySettings } from './decoys/settings.ts';

/** Settings of traps. */
interface TrapOptions {
  /** Decoys, each with its own port. */
  decoys: readonly DecoySettings[];
  /** Access to AWS, to learn of uses of keys that are traps. */
  aws: AwsSettings;
}

const file = {
  decoys: decoysFileSchema.optional(),
  aws: awsFileSchema.optional(),
  cloudtrail: trailFileSchema.optional(),
};

export const TRAP_SETTINGS = {
  file,
  toOptions: (
    { decoys = [], ...aws }: z.output<z.ZodObject<typeof file>>,
    resolve: (path: string) => string,
  ): TrapOptions => ({ decoys: toDecoySettings(decoys, resolve), aws: toAwsSettings(aws, resolve) }),
  inForce: ({ decoys = [], aws: { iam, trail } = NO_AWS }: Partial<TrapOptions>) => [
    ['decoys', decoys.length === 0 ? 'none' : decoys.map(({ name, kind }) => `${name} (${kind})`).join(', ')],
    ['aws', iam?.accessKeyId ?? 'none: IAM is not queried for the last use of keys'],
    ['cloudtrail', trail?.bucket ?? 'none: only reported events'],
  ],
} satisfies ServiceSettings;
