import { randomUUID } from 'node:crypto';
import type { SecretBox } from '../secrets.ts';

const LIFETIME_MS = 180 * 24 * 60 * 60 * 1000;

/** Maximum length of a cookie that is read. */
const LONGEST = 2000;

interface Device {
  device_id: string;
  until: string;
}

/**
 * Browsers in which a person has signed in. Each has a cookie, sealed for the account, with which its attempts are
 * counted apart from those of strangers. The cookie is no credential: without it, a sign-in is only slower when others
 * guess. (OWASP: device cookies.)
 */
export class Devices {
  readonly #secrets: SecretBox;
  readonly #clock: () => Date;

  constructor(secrets: SecretBox, clock: () => Date) {
    this.#secrets = secrets;
    this.#clock = clock;
  }

  /** Returns a new cookie for a browser in which a person signed in. */
  cookie(email: string): string {
    const until = new Date(this.#clock().getTime() + LIFETIME_MS).toISOString();
    const device: Device = { device_id: randomUUID(), until };
    return this.#secrets.seal(Buffer.from(JSON.stringify(device)), ownerOf(email)).toString('base64url');
  }

  /** Returns the id in a cookie; null if it was not made for the account, or is too old. */
  idIn(cookie: string | undefined, email: string): string | null {
    if (cookie === undefined || cookie.length > LONGEST) return null;
    try {
      const sealed = Buffer.from(cookie, 'base64url');
      const { device_id, until } = JSON.parse(this.#secrets.open(sealed, ownerOf(email)).toString()) as Device;
      return until > this.#clock().toISOString() ? device_id : null;
    } catch {
      return null;
    }
  }
}

function ownerOf(email: string): string {
  return `device of ${email}`;
}
