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
    expires_at: string;
    used_at: string | null;
  };
  sessions: {
    sha256: string;
    person_id: string;
    csrf: string;
    created_at: string;
    seen_at: string;
    /** When the person last proved anew who they are; null until then. */
    proved_at: string | null;
  };
  failed_attempts: { subject: string; failures: number; last_at: string };
}

export type LinkPurpose = 'set_up' | 'confirm' | 'invite' | 'reset';
