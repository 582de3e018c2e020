/** Roles. owner: everything; operator: runs the services; auditor: reads and verifies. */
export const PEOPLE_ROLES = ['owner', 'operator', 'auditor'] as const;
export type Role = (typeof PEOPLE_ROLES)[number];

/** Minimum length of a password. By NIST SP 800-63B, length matters most, and common passwords are refused. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 200;
