import { DomainError } from '../../errors.ts';
import type { CredentialType } from '../words.ts';
import { awsKey } from './aws-key.ts';
import { dbConnectionString } from './db-connection-string.ts';
import { kubeconfig } from './kubeconfig.ts';
import { sshKey } from './ssh-key.ts';
import type { TrapType } from './type.ts';
import { webBug } from './web-bug.ts';

/** Every kind of credential that can be a trap: a new one is a file and a line. */
const TYPES: Partial<Record<CredentialType, TrapType>> = {
  aws_key: awsKey,
  kubeconfig,
  db_connection_string: dbConnectionString,
  ssh_key: sshKey,
  web_bug: webBug,
};

/** The types that are made here. */
export function madeTypes(): readonly TrapType[] {
  return Object.values(TYPES);
}

export function typeOf(type: CredentialType): TrapType {
  const found = TYPES[type];
  if (found === undefined) throw new DomainError('invalid_request', `credential_type: ${type} is not made here`);
  return found;
}
