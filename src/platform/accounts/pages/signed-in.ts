import type { FindSignedIn } from '../../web/access.ts';
import { principalOfSession } from '../roles.ts';
import type { Sessions } from '../sessions.ts';

/** Returns a function that finds the signed-in person, for the frame around all pages. */
export function signedInBy(sessions: Sessions): FindSignedIn {
  return async (token) => {
    const session = await sessions.find(token);
    if (session === null) return null;
    const { email, role, csrf, isProved, secondFactors } = session;
    return { ...principalOfSession(session), kind: 'person', email, role, csrf, isProved, secondFactors };
  };
}
