/** Kinds of credentials that a trap can pretend to be, for people to plant. */
export const CREDENTIAL_TYPES = [
  'aws_key',
  'db_connection_string',
  'ssh_key',
  'kubeconfig',
  'api_token',
  'jwt',
  'npm_token',
  'docker_registry',
  'git_https',
  'dotenv',
  'mcp_server',
  'web_bug',
] as const;
export type PlantedType = (typeof CREDENTIAL_TYPES)[number];

/** Traps that lie only in an agent's vault: a secret that leads nowhere, a tool that does nothing. */
export const VAULT_TYPES = ['agent_secret', 'agent_tool'] as const;

export const TRAP_TYPES = [...CREDENTIAL_TYPES, ...VAULT_TYPES] as const;
export type CredentialType = (typeof TRAP_TYPES)[number];

/** Places where somebody is to find the trap. */
export const PLANT_LOCATIONS = [
  'github',
  'gitlab',
  'ci',
  'server',
  's3',
  'docker_image',
  'wiki',
  'agent_vault',
  'other',
] as const;
export type PlantLocation = (typeof PLANT_LOCATIONS)[number];

/**
 * `fabricated`: made here, and known nowhere else. `imported`, `provisioned`: a real key of a real account, without
 * rights.
 */
export const ORIGINS = ['fabricated', 'imported', 'provisioned'] as const;
export type Origin = (typeof ORIGINS)[number];

export const TRAP_STATUSES = ['active', 'planted', 'triggered', 'rotated', 'revoked', 'expired'] as const;
export type TrapStatus = (typeof TRAP_STATUSES)[number];

/** By what a use of a credential is seen. */
export const CHANNELS = [
  'aws_decoy',
  'aws_cloudtrail',
  'aws_last_used',
  'postgres',
  'ssh',
  'kubernetes',
  'http',
  'npm',
  'registry',
  'git',
  'mcp',
  'file_read',
  'vault_read',
  'tool_call',
] as const;
export type Channel = (typeof CHANNELS)[number];

/** Depths of a use, least first: it was public, it was opened, it was tried, it was worked with. */
export const DEPTHS = ['exposed', 'read', 'validated', 'used'] as const;
export type Depth = (typeof DEPTHS)[number];

export const DETECTION_STATUSES = ['open', 'acknowledged', 'archived'] as const;
export type DetectionStatus = (typeof DETECTION_STATUSES)[number];

/** The stream of the audit service that has what happens to traps. */
export const TRAPS_STREAM = 'traps';

/** A long-term access key; those of sessions begin with ASIA. */
export const ACCESS_KEY_ID = /^AKIA[A-Z0-9]{16}$/;
export const SECRET_ACCESS_KEY = /^[A-Za-z0-9/+]{40}$/;
