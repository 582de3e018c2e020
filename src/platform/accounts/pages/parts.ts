import type { Accounts } from '../accounts.ts';

/** Services behind the pages of accounts, which are those of the API's routes. */
export interface AccountPageParts {
  accounts: Accounts;
  clock: () => Date;
}
