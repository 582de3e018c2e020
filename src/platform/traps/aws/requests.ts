import { z } from 'zod';
import { text } from '../../http/fields.ts';
import { planting } from '../wire.ts';
import { ACCESS_KEY_ID, SECRET_ACCESS_KEY } from './access-key.ts';

const realKey = {
  ...planting,
  region: z.string().min(1).max(50).default('us-east-1'),
  /** An aws decoy, where what is planted is to lead there and not to AWS. */
  decoy: text.min(1).max(100).optional(),
};
/** https://docs.aws.amazon.com/IAM/latest/APIReference/API_CreateUser.html */
const userName = z.string().regex(/^[\w+=,.@-]{1,64}$/, 'is no name of a user of IAM');

export const importedKeySchema = z.strictObject({
  ...realKey,
  access_key_id: z.string().regex(ACCESS_KEY_ID, 'is not the id of an access key, which begins with AKIA'),
  /** Needed for what is planted, and to tell right from wrong at a decoy; no channel of AWS needs it. */
  secret_access_key: z.string().regex(SECRET_ACCESS_KEY, 'has other than forty characters').nullable().default(null),
  user_name: userName.nullable().default(null),
});
export type ImportedKey = z.output<typeof importedKeySchema>;

export const provisionedKeySchema = z.strictObject({
  ...realKey,
  /** A random one that looks like that of a program, where it is not given. */
  user_name: userName.optional(),
});
export type ProvisionedKey = z.output<typeof provisionedKeySchema>;

export type RealKeyInput = Pick<ImportedKey, 'plant_location' | 'label' | 'expires_at' | 'decoy'>;
