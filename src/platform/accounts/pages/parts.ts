import type { Accounts } from '../accounts.ts';

/** What the pages of accounts are made with: the same services that the routes of the API call. */
export interface AccountPageParts {
  accounts: Accounts;
  clock: () => Date;
}
