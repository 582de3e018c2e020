/** owner: everything; operator: runs the services; auditor: reads and verifies. */
export const PEOPLE_ROLES = ['owner', 'operator', 'auditor'] as const;
export type Role = (typeof PEOPLE_ROLES)[number];

/** NIST SP 800-63B: length is what counts, and what everybody tries first is refused. */
export const SHORTEST_PASSWORD = 12;
export const LONGEST_PASSWORD = 200;
