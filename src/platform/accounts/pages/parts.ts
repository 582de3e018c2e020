import type { Accounts } from '../accounts.ts';

/** The services behind the pages of accounts: those that the routes of the API call. */
export interface AccountPageParts {
  accounts: Accounts;
  clock: () => Date;
}
