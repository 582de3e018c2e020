import { column, type TablesOf, table } from '../database/table.ts';
import { PEOPLE_ROLES } from './enums.ts';

export type LinkPurpose = 'set_up' | 'confirm' | 'invite' | 'reset';

/** Times are RFC 3339 UTC with milliseconds. */
export const ACCOUNT_TABLES = {
  api_keys: table(
    {
      key_id: column.text('PRIMARY KEY'),
      /** SHA-256 of the whole key, which is not stored. */
      sha256: column.text(),
      name: column.text(),
      /** Scopes separated by spaces. */
      scopes: column.text(),
      created_at: column.text(),
      expires_at: column.optional(column.text()),
      revoked_at: column.optional(column.text()),
      /** Time of the last use, to the minute. */
      last_used_at: column.optional(column.text()),
      /** Key that this one replaces. */
      rotated_from: column.optional(column.text('UNIQUE REFERENCES api_keys')),
      /** First of the keys that were rotated into this one: its own id if it replaces none. */
      lineage: column.text(),
      /** Sole subject that the key may act for, as named by its service: `endpoint:ID`; null if it is not bound. */
      bound_to: column.optional(column.text()),
      /** JSON list of patterns of the streams to which the key may append; null for any. */
      streams: column.optional(column.text()),
      /** Sole actor as whom the key may append; null for any. */
      actor: column.optional(column.text()),
      /** Person who made the key, also with another key; null for a command or a service. */
      maker_id: column.optional(column.text()),
      /** Seal over all columns above but the last use. */
      seal: column.text(),
    },
    { indexes: { api_keys_by_maker: '(maker_id)' } },
  ),
  people: table({
    person_id: column.text('PRIMARY KEY'),
    /** Address, as returned by `canonicalEmail`. */
    email: column.text('UNIQUE'),
    name: column.text(),
    role: column.oneOf(PEOPLE_ROLES),
    /** Hash, as returned by `hashPassword`. */
    password: column.text(),
    /** Sealed secret of the authenticator; null if there is none. */
    totp_secret: column.optional(column.bytes()),
    /** Time step of the last accepted code. */
    totp_step: column.integer(),
    /** Sealed JSON of the digests of the recovery codes that were not used; null if none were made. */
    recovery_codes: column.optional(column.bytes()),
    /** Number of passkeys, so that none can be removed unnoticed. */
    passkeys: column.integer(),
    created_at: column.text(),
    disabled_at: column.optional(column.text()),
    /** Number of the act in `platform/administration` that changed the person last; null for a person without acts. */
    act: column.optional(column.integer()),
    /** Seal over all columns but the time step of the last code. */
    seal: column.text(),
  }),
  links: table({
    link_id: column.text('PRIMARY KEY'),
    /** SHA-256 of the token. */
    sha256: column.text('UNIQUE'),
    purpose: column.oneOf<LinkPurpose>(['set_up', 'confirm', 'invite', 'reset']),
    /** JSON for the person who follows the link. */
    content: column.text(),
    expires_at: column.text(),
    used_at: column.optional(column.text()),
    /** Actor who hands the link to another person. */
    made_by: column.optional(column.text()),
    /** Seal over all columns above. */
    seal: column.text(),
  }),
  /** People who confirmed their address and wait for approval. They have no account yet. */
  sign_ups: table({
    sign_up_id: column.text('PRIMARY KEY'),
    /** Address, as returned by `canonicalEmail`. */
    email: column.text('UNIQUE'),
    name: column.text(),
    /** Hash, as returned by `hashPassword`. */
    password: column.text(),
    requested_at: column.text(),
    /** Seal over all columns above. */
    seal: column.text(),
  }),
  failed_attempts: table(
    {
      subject: column.text('PRIMARY KEY'),
      /** Failures since the last time at which all were forgiven. */
      failures: column.integer(),
      /** Time at which all failures are forgiven. */
      forgiven_at: column.text(),
    },
    { indexes: { failed_attempts_by_time: '(forgiven_at)' } },
  ),
  passkeys: table(
    {
      passkey_id: column.text('PRIMARY KEY'),
      person_id: column.text('REFERENCES people'),
      /** Credential id of the authenticator, in base64url. */
      credential_id: column.text('UNIQUE'),
      /** Name that the person chose. */
      name: column.text(),
      /** COSE_Key (RFC 9052 section 7). */
      public_key: column.bytes(),
      /** Signature counter of the authenticator at its last signature; 0 if it does not count. */
      counter: column.integer(),
      /** JSON of the transports by which a browser reaches the authenticator. */
      transports: column.text(),
      created_at: column.text(),
      last_used_at: column.optional(column.text()),
      /** Seal over all columns above but the counter and the last use. */
      seal: column.text(),
    },
    { indexes: { passkeys_by_person: '(person_id)' } },
  ),
  /** Challenges that were answered, until they expire. */
  spent_challenges: table({ sha256: column.text('PRIMARY KEY'), until: column.text() }),
  sessions: table(
    {
      sha256: column.text('PRIMARY KEY'),
      session_id: column.text('UNIQUE'),
      person_id: column.text('REFERENCES people'),
      csrf: column.text(),
      created_at: column.text(),
      seen_at: column.text(),
      /** Time at which the person last authenticated again; null before that. */
      proved_at: column.optional(column.text()),
      /** Origin of the session: the network as returned by `networkOf`, the browser by `browserWords`. */
      network: column.optional(column.text()),
      browser: column.optional(column.text()),
      /** Seal over all columns above but the last use. */
      seal: column.text(),
    },
    { indexes: { sessions_by_person: '(person_id)' } },
  ),
};

export type AccountTables = TablesOf<typeof ACCOUNT_TABLES>;
