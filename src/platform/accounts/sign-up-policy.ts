import { DomainError } from '../errors.ts';
import { isEmail } from '../mail/address.ts';

/** People who may create an account without an invitation. */
export interface SignUpPolicy {
  /** `open`: those who confirm their address. `approval`: those whom an owner approves after that. */
  mode: 'open' | 'approval' | 'closed';
  /** Domains of the addresses that may sign up; empty for all. */
  domains: readonly string[];
}

/** @param email in canonical form. @throws DomainError `forbidden` if the domain of the address may not sign up. */
export function refuseOtherDomain({ domains }: SignUpPolicy, email: string): void {
  const isAllowed = isEmail(email) && domains.includes(email.slice(email.lastIndexOf('@') + 1));
  if (domains.length > 0 && !isAllowed)
    throw new DomainError('forbidden', `sign-up needs an address at ${domains.join(' or ')}`);
}
