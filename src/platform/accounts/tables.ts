import { bytes, integer, oneOf, optional, type TablesOf, table, text } from '../database/table.ts';

/** owner: everything; operator: runs the services; auditor: reads and verifies. */
export type Role = 'owner' | 'operator' | 'auditor';

export type LinkPurpose = 'set_up' | 'confirm' | 'invite' | 'reset';

/** Times are RFC 3339 UTC with milliseconds. */
export const ACCOUNT_TABLES = {
  api_keys: table({
    key_id: text('PRIMARY KEY'),
    /** Of the whole text, which is kept nowhere. */
    sha256: text(),
    name: text(),
    /** With a space between them. */
    scopes: text(),
    created_at: text(),
    expires_at: optional(text()),
    revoked_at: optional(text()),
    /** To the minute. */
    last_used_at: optional(text()),
    /** The key in whose place this one is. */
    rotated_from: optional(text('UNIQUE REFERENCES api_keys')),
    /** What alone it may speak for, as its service names it: `endpoint:ID`; null for a key that speaks for itself. */
    bound_to: optional(text()),
  }),
  people: table({
    person_id: text('PRIMARY KEY'),
    /** As `canonicalEmail` writes it. */
    email: text('UNIQUE'),
    name: text(),
    role: oneOf<Role>(['owner', 'operator', 'auditor']),
    /** As `hashPassword` stores it. */
    password: text(),
    /** Sealed; null while there is no second factor. */
    totp_secret: optional(bytes()),
    /** Of the last code that was taken. */
    totp_step: integer(),
    created_at: text(),
    disabled_at: optional(text()),
  }),
  links: table({
    link_id: text('PRIMARY KEY'),
    /** Of its token. */
    sha256: text('UNIQUE'),
    purpose: oneOf<LinkPurpose>(['set_up', 'confirm', 'invite', 'reset']),
    /** JSON, for whoever follows the link. */
    content: text(),
    expires_at: text(),
    used_at: optional(text()),
    /** Who gives it to somebody else, as acts name them. */
    made_by: optional(text()),
  }),
  failed_attempts: table({
    subject: text('PRIMARY KEY'),
    failures: integer(),
    last_at: text(),
  }),
  passkeys: table(
    {
      passkey_id: text('PRIMARY KEY'),
      person_id: text('REFERENCES people'),
      /** As its authenticator calls it, in base64url. */
      credential_id: text('UNIQUE'),
      /** What the person calls it. */
      name: text(),
      /** A COSE_Key (RFC 9052, section 7). */
      public_key: bytes(),
      /** What its authenticator had counted to when it last signed; 0 where it does not count. */
      counter: integer(),
      /** JSON: the ways on which a browser reaches it. */
      transports: text(),
      created_at: text(),
      last_used_at: optional(text()),
    },
    { indexes: { passkeys_by_person: '(person_id)' } },
  ),
  /** Challenges that an authenticator signed, until they are too old anyhow. */
  spent_challenges: table({
    sha256: text('PRIMARY KEY'),
    until: text(),
  }),
  sessions: table(
    {
      sha256: text('PRIMARY KEY'),
      session_id: text('UNIQUE'),
      person_id: text('REFERENCES people'),
      csrf: text(),
      created_at: text(),
      seen_at: text(),
      /** When the person last proved anew who they are; null until then. */
      proved_at: optional(text()),
      /** Where it was begun, as `networkOf` says it, and with what, as `browserWords` does. */
      network: optional(text()),
      browser: optional(text()),
    },
    { indexes: { sessions_by_person: '(person_id)' } },
  ),
};

export type AccountTables = TablesOf<typeof ACCOUNT_TABLES>;
