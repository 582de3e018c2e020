import type { Markup } from '../../../core/html/markup.ts';
import { type StatusTone, statusWord } from '../../web/components.ts';
import {
  type Channel,
  type CredentialType,
  type Depth,
  type DetectionStatus,
  type Origin,
  type PlantLocation,
  type TrapStatus,
  VAULT_TYPES,
} from '../enums.ts';
import { proofSince } from '../rules.ts';
import type { WireTrap } from '../wire.ts';

/** Titles of the types, and the conclusion from a use of each. */
export const TYPE_WORDS: Record<CredentialType, { title: string; shows: string }> = {
  aws_key: {
    title: 'AWS access key',
    shows: 'A use shows that somebody has the key, and which AWS actions they requested.',
  },
  db_connection_string: {
    title: 'Database connection string',
    shows: 'A use shows that somebody tried to sign in to the database, and whether they had the password.',
  },
  ssh_key: { title: 'SSH key', shows: 'A use shows that somebody offered the key to the server.' },
  kubeconfig: { title: 'Kubernetes configuration', shows: 'A use shows what somebody requested from the cluster.' },
  api_token: { title: 'API token', shows: 'A use shows that somebody called the API with the token.' },
  jwt: { title: 'JSON Web Token', shows: 'A use shows that somebody called the API with the token.' },
  npm_token: { title: 'npm token', shows: 'A use shows that somebody called the registry with the token.' },
  docker_registry: {
    title: 'Docker registry login',
    shows: 'A use shows that somebody signed in to the registry, and which image they wanted.',
  },
  git_https: { title: 'Git login', shows: 'A use shows that somebody tried to read or write the repository.' },
  dotenv: { title: 'Settings file (.env)', shows: 'Contains several credentials. A use shows which one was tried.' },
  mcp_server: {
    title: 'MCP server for AI agents',
    shows: 'A connection shows that an agent used the entry; a tool call shows what it did.',
  },
  agent_secret: {
    title: 'Secret of an agent',
    shows: 'A read shows that an agent, or somebody with its key, read a secret that it does not need.',
  },
  agent_tool: {
    title: 'Tool of an agent',
    shows: 'A call shows that an agent used a tool that it does not need.',
  },
  web_bug: { title: 'Web bug', shows: 'A call shows that somebody opened the page or document with the web bug.' },
};

export const PLACE_WORDS: Record<PlantLocation, string> = {
  github: 'GitHub',
  gitlab: 'GitLab',
  ci: 'CI',
  server: 'a server',
  s3: 'S3',
  docker_image: 'a Docker image',
  wiki: 'a wiki',
  agent_vault: 'the vault of an agent',
  other: 'elsewhere',
};

export const ORIGIN_WORDS: Record<Origin, string> = {
  fabricated: 'created here, and known nowhere else',
  imported: 'a real key without permissions, created elsewhere',
  provisioned: 'a real key without permissions, created by this platform',
};

export const CHANNEL_WORDS: Record<Channel, string> = {
  aws_decoy: 'AWS decoy',
  aws_cloudtrail: 'AWS CloudTrail',
  aws_last_used: 'Last use in IAM',
  postgres: 'PostgreSQL decoy',
  ssh: 'SSH decoy',
  kubernetes: 'Kubernetes decoy',
  http: 'HTTP',
  npm: 'npm registry decoy',
  registry: 'Docker registry decoy',
  git: 'Git decoy',
  mcp: 'MCP decoy',
  file_read: 'Read of the file',
  vault_read: 'Read from the vault of an agent',
  tool_call: 'Action of an agent',
};

/** Words for each depth. */
export const DEPTH_WORDS: Record<Depth, { word: string; sentence: string }> = {
  exposed: { word: 'exposed', sentence: 'The trap was seen in public.' },
  read: { word: 'opened', sentence: 'Somebody opened the trap, and did nothing else.' },
  validated: { word: 'tried', sentence: 'Somebody checked whether the credential works.' },
  used: { word: 'used', sentence: 'Somebody used the credential.' },
};

export const DETECTION_STATUS_WORDS: Record<DetectionStatus, string> = {
  open: 'open',
  acknowledged: 'acknowledged',
  archived: 'archived',
};

export function detectionStatusWord(status: DetectionStatus): Markup {
  return statusWord(status === 'open' ? 'bad' : 'neutral', DETECTION_STATUS_WORDS[status]);
}

const TRAP_STATUS_WORDS: Record<TrapStatus, readonly [StatusTone, string]> = {
  active: ['neutral', 'not planted yet'],
  planted: ['good', 'planted'],
  triggered: ['bad', 'used'],
  rotated: ['neutral', 'rotated'],
  revoked: ['neutral', 'revoked'],
  expired: ['neutral', 'expired'],
};

export function trapStatusWord(status: TrapStatus): Markup {
  return statusWord(...TRAP_STATUS_WORDS[status]);
}

/** Returns the state of a channel in a word. Never calls an unproved channel good. */
export function channelWord(channel: WireTrap['detection_channels'][number], now: Date): Markup {
  if (!channel.active) return statusWord('neutral', 'inactive');
  const isProved = channel.last_proved_at !== null && channel.last_proved_at >= proofSince(now);
  return isProved ? statusWord('good', 'proved') : statusWord('warning', 'not proved');
}

/** Reports whether a trap exists only in an agent's vault, in which a replacement must be made. */
export function isOfVault({ credential_type }: WireTrap): boolean {
  return (VAULT_TYPES as readonly string[]).includes(credential_type);
}

/** Reports whether a trap has ended: its uses still count, but it should no longer be planted. */
export function hasEnded({ status }: WireTrap): boolean {
  return status === 'revoked' || status === 'rotated';
}
