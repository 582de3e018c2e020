import type { ModulePages } from '../../web/web.ts';
import { joiningPages } from './joining.ts';
import { type KeyPageParts, keyPages } from './keys.ts';
import { ownAccountPages } from './own-account.ts';
import type { AccountPageParts } from './parts.ts';
import { passkeyPages } from './passkeys.ts';
import { KEYS_PATH, PEOPLE_PATH } from './paths.ts';
import { peoplePages } from './people.ts';
import { recoveryPages } from './recovery-codes.ts';
import { secondFactorPages } from './second-factor.ts';
import { signInPages } from './sign-in.ts';

/** Returns the pages of API keys. */
export function pagesOfKeys(parts: KeyPageParts): ModulePages {
  return {
    nav: [{ title: 'API keys', path: KEYS_PATH, scope: 'keys:read' }],
    routes: (server) => keyPages(server, parts),
  };
}

/** Returns the pages of accounts: signing in, the person's own account, and all people. */
export function pagesOfPeople(parts: AccountPageParts): ModulePages {
  return {
    nav: [{ title: 'People', path: PEOPLE_PATH, scope: 'people:read' }],
    async routes(server) {
      signInPages(server, parts);
      joiningPages(server, parts);
      ownAccountPages(server, parts);
      secondFactorPages(server, parts);
      passkeyPages(server, parts);
      recoveryPages(server, parts);
      await peoplePages(server, parts);
    },
  };
}
