/** Roles. owner: everything; operator: runs the services; auditor: reads and verifies. */
export const PEOPLE_ROLES = ['owner', 'operator', 'auditor'] as const;
export type Role = (typeof PEOPLE_ROLES)[number];
/** Role of people who sign up. */
export const SIGN_UP_ROLE: Role = 'auditor';

/** Sets of scopes for usual purposes of an API key. */
export const KEY_PRESETS = ['exporter', 'recorder', 'auditor', 'monitoring'] as const;
export type KeyPreset = (typeof KEY_PRESETS)[number];

/** Minimum length of a password. By NIST SP 800-63B, length matters most, and common passwords are refused. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 200;
