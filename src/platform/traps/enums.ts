/** Kinds of credentials that a planted trap can imitate. */
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

/** Kinds of traps that exist only in an agent's vault: a secret that leads nowhere, a tool that does nothing. */
export const VAULT_TYPES = ['agent_secret', 'agent_tool'] as const;

export const TRAP_TYPES = [...CREDENTIAL_TYPES, ...VAULT_TYPES] as const;
export type CredentialType = (typeof TRAP_TYPES)[number];

/** Places in which an attacker is to find the trap. */
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
 * Origins of traps. `fabricated`: made here and known nowhere else. `imported`, `provisioned`: a real key of a real
 * account, without permissions.
 */
export const ORIGINS = ['fabricated', 'imported', 'provisioned'] as const;
export type Origin = (typeof ORIGINS)[number];

export const TRAP_STATUSES = ['active', 'planted', 'triggered', 'rotated', 'revoked', 'expired'] as const;
export type TrapStatus = (typeof TRAP_STATUSES)[number];

/** Channels through which a use of a credential is detected. */
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

/** Depths of a use, least first: seen in public, opened, tried, worked with. */
export const DEPTHS = ['exposed', 'read', 'validated', 'used'] as const;
export type Depth = (typeof DEPTHS)[number];

export const DETECTION_STATUSES = ['open', 'acknowledged', 'archived'] as const;
export type DetectionStatus = (typeof DETECTION_STATUSES)[number];

/** Audit stream that records all acts and uses of traps. */
export const TRAPS_STREAM = 'traps';

/** Id of a long-term access key; ids of session keys begin with ASIA. */
export const ACCESS_KEY_ID = /^AKIA[A-Z0-9]{16}$/;
export const SECRET_ACCESS_KEY = /^[A-Za-z0-9/+]{40}$/;
