import { column, type TablesOf, table } from '../database/table.ts';
import { PEOPLE_ROLES } from './enums.ts';

export type LinkPurpose = 'set_up' | 'confirm' | 'invite' | 'reset';

/** Times are RFC 3339 UTC with milliseconds. */
export const ACCOUNT_TABLES = {
  api_keys: table({
    key_id: column.text('PRIMARY KEY'),
    /** SHA-256 of the whole key, which is stored nowhere. */
    sha256: column.text(),
    name: column.text(),
    /** With a space between them. */
    scopes: column.text(),
    created_at: column.text(),
    expires_at: column.optional(column.text()),
    revoked_at: column.optional(column.text()),
    /** To the minute. */
    last_used_at: column.optional(column.text()),
    /** The key in whose place this one is. */
    rotated_from: column.optional(column.text('UNIQUE REFERENCES api_keys')),
    /** The one thing that the key may speak for, as its service names it: `endpoint:ID`; null if it speaks for itself. */
    bound_to: column.optional(column.text()),
  }),
  people: table({
    person_id: column.text('PRIMARY KEY'),
    /** As `canonicalEmail` writes it. */
    email: column.text('UNIQUE'),
    name: column.text(),
    role: column.oneOf(PEOPLE_ROLES),
    /** As `hashPassword` stores it. */
    password: column.text(),
    /** Sealed; null while there is no second factor. */
    totp_secret: column.optional(column.bytes()),
    /** Time step of the last code that was accepted. */
    totp_step: column.integer(),
    created_at: column.text(),
    disabled_at: column.optional(column.text()),
  }),
  links: table({
    link_id: column.text('PRIMARY KEY'),
    /** SHA-256 of the token. */
    sha256: column.text('UNIQUE'),
    purpose: column.oneOf<LinkPurpose>(['set_up', 'confirm', 'invite', 'reset']),
    /** JSON, for whoever follows the link. */
    content: column.text(),
    expires_at: column.text(),
    used_at: column.optional(column.text()),
    /** Actor who gives the link to somebody else. */
    made_by: column.optional(column.text()),
  }),
  failed_attempts: table({
    subject: column.text('PRIMARY KEY'),
    failures: column.integer(),
    last_at: column.text(),
  }),
  passkeys: table(
    {
      passkey_id: column.text('PRIMARY KEY'),
      person_id: column.text('REFERENCES people'),
      /** As its authenticator calls it, in base64url. */
      credential_id: column.text('UNIQUE'),
      /** Name that the person gave it. */
      name: column.text(),
      /** A COSE_Key (RFC 9052, section 7). */
      public_key: column.bytes(),
      /** Signature counter of the authenticator at its last signature; 0 if it does not count. */
      counter: column.integer(),
      /** JSON: the ways on which a browser reaches it. */
      transports: column.text(),
      created_at: column.text(),
      last_used_at: column.optional(column.text()),
    },
    { indexes: { passkeys_by_person: '(person_id)' } },
  ),
  /** Challenges that an authenticator signed, until they are too old anyhow. */
  spent_challenges: table({ sha256: column.text('PRIMARY KEY'), until: column.text() }),
  sessions: table(
    {
      sha256: column.text('PRIMARY KEY'),
      session_id: column.text('UNIQUE'),
      person_id: column.text('REFERENCES people'),
      csrf: column.text(),
      created_at: column.text(),
      seen_at: column.text(),
      /** When the person last proved anew who they are; null until then. */
      proved_at: column.optional(column.text()),
      /** Origin of the session: the network as `networkOf` gives it, the browser as `browserWords` does. */
      network: column.optional(column.text()),
      browser: column.optional(column.text()),
    },
    { indexes: { sessions_by_person: '(person_id)' } },
  ),
};

export type AccountTables = TablesOf<typeof ACCOUNT_TABLES>;
