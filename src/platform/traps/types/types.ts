import type { PlantedType } from '../enums.ts';
import { awsKey } from './aws-key.ts';
import { dbConnectionString } from './db-connection-string.ts';
import { dotenvOf } from './dotenv.ts';
import { kubeconfig } from './kubeconfig.ts';
import { dockerRegistry, gitHttps, npmToken } from './registries.ts';
import { sshKey } from './ssh-key.ts';
import { apiToken, jwt, mcpServer, webBug } from './tokens.ts';
import type { TrapType } from './type.ts';

/** Kinds of credentials that can be planted as traps; a new kind is a file and a line here. */
export const TYPES: Readonly<Record<PlantedType, TrapType>> = {
  aws_key: awsKey,
  api_token: apiToken,
  docker_registry: dockerRegistry,
  git_https: gitHttps,
  jwt,
  mcp_server: mcpServer,
  npm_token: npmToken,
  kubeconfig,
  db_connection_string: dbConnectionString,
  ssh_key: sshKey,
  dotenv: dotenvOf((type) => TYPES[type]),
  web_bug: webBug,
};
