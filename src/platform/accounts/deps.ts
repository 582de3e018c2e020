import type { Database } from '../database/database.ts';
import type { SecretBox } from '../secrets.ts';
import type { Administration } from './administration.ts';
import type { Devices } from './devices.ts';
import type { HashQueue } from './hash-queue.ts';
import type { Letters } from './letters.ts';
import type { OneTimeLinks } from './links.ts';
import type { Passwords } from './password.ts';
import type { SecondFactors } from './second-factors.ts';
import type { Sessions } from './sessions.ts';
import type { Throttle } from './throttle.ts';

/** Dependencies of the services of accounts. */
// Over ten members: each one is a service.
export interface AccountDeps {
  database: Database;
  clock: () => Date;
  administration: Administration;
  links: OneTimeLinks;
  letters: Letters;
  secrets: SecretBox;
  secondFactors: SecondFactors;
  passwords: Passwords;
  hashing: HashQueue;
  devices: Devices;
  sessions: Sessions;
  throttle: Throttle;
}
