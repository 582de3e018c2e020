import { z } from 'zod';
import { decoyOrigin, drawGrafanaToken, trustHint } from './drawn.ts';
import { neededDecoy } from './needed-decoy.ts';
import { readOptions } from './options.ts';
import type { TrapType } from './type.ts';

const optionsSchema = z.strictObject({
  /** The name of the server in the file. */
  name: z
    .string()
    .regex(/^[\w-]{1,64}$/, 'has other characters than letters, digits, _ and -')
    .default('internal-tools'),
});

/** A server of tools, for the file in which agents find theirs. */
export const mcpServer: TrapType = {
  type: 'mcp_server',
  decoy: 'web',
  needsDecoy: true,
  async make(input) {
    const { name } = readOptions(optionsSchema, input);
    const decoy = neededDecoy(input);
    const token = drawGrafanaToken();
    const url = `${decoyOrigin(decoy)}/mcp`;
    const servers = { [name]: { type: 'http', url, headers: { Authorization: `Bearer ${token}` } } };
    return {
      credential: { url, token },
      artifact: {
        filename: '.mcp.json',
        content: `${JSON.stringify({ mcpServers: servers }, null, 2)}\n`,
        instructions: `Put the file into the root of a repository, or its entry among the servers of an agent that should never call it.${trustHint(decoy, 'give NODE_EXTRA_CA_CERTS to agents, or plant the address of a decoy with a known authority.')}`,
      },
      marks: [{ kind: 'bearer', value: token }],
      channels: ['mcp'],
      knownAs: `${token.slice(0, 9)}…`,
    };
  },
};
