import { accountOf } from '../../aws/access-key.ts';
import type { FoundTrap } from '../decoy.ts';

/** The owner that a trap names for its key. */
export interface KeyOwner {
  arn: string;
  userId: string;
  accountId: string;
  /** Null where nobody told it. */
  secret: string | null;
}

export function keyOwner({ credential }: FoundTrap): KeyOwner {
  const told = (name: string) => {
    const value = credential[name];
    return typeof value === 'string' ? value : null;
  };
  const accessKeyId = told('access_key_id') ?? '';
  const accountId = told('account_id') ?? accountOf(accessKeyId) ?? '000000000000';
  const arn = `arn:aws:iam::${accountId}:user/${told('user_name') ?? 'deploy'}`;
  const userId = told('user_id') ?? `AIDA${accessKeyId.slice(4)}Q`;
  return { arn, userId, accountId, secret: told('secret_access_key') };
}
