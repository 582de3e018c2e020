/** owner: everything; operator: runs the services; auditor: reads and verifies. */
export type Role = 'owner' | 'operator' | 'auditor';

export interface PeopleTables {
  people: {
    person_id: string;
    /** As `canonicalEmail` writes it. */
    email: string;
    name: string;
    role: Role;
    /** As `hashPassword` stores it. */
    password: string;
    /** Sealed; null while there is no second factor. */
    totp_secret: Uint8Array | null;
    /** Of the last code that was taken. */
    totp_step: number;
    created_at: string;
    disabled_at: string | null;
  };
  links: {
    link_id: string;
    /** Of its token. */
    sha256: string;
    purpose: LinkPurpose;
    /** JSON, for whoever follows the link. */
    content: string;
    /** Who gives it to somebody else, as acts name them. */
    made_by: string | null;
    expires_at: string;
    used_at: string | null;
  };
  sessions: {
    sha256: string;
    session_id: string;
    person_id: string;
    csrf: string;
    created_at: string;
    seen_at: string;
    /** When the person last proved anew who they are; null until then. */
    proved_at: string | null;
    /** Where it was begun, as `networkOf` says it, and with what, as `browserWords` does. */
    network: string | null;
    browser: string | null;
  };
  passkeys: {
    passkey_id: string;
    person_id: string;
    /** As its authenticator calls it, in base64url. */
    credential_id: string;
    /** What the person calls it. */
    name: string;
    /** A COSE_Key (RFC 9052, section 7). */
    public_key: Uint8Array;
    /** What its authenticator had counted to when it last signed; 0 where it does not count. */
    counter: number;
    /** JSON: the ways on which a browser reaches it. */
    transports: string;
    created_at: string;
    last_used_at: string | null;
  };
  /** Challenges that an authenticator signed, until they are too old anyhow. */
  spent_challenges: { sha256: string; until: string };
  failed_attempts: { subject: string; failures: number; last_at: string };
}

export type LinkPurpose = 'set_up' | 'confirm' | 'invite' | 'reset';
