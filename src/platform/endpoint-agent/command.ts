import { readFileSync } from 'node:fs';
import process from 'node:process';
import type { CommandModule } from 'yargs';
import { EvidenceError, messageOf } from '../../core/errors.ts';

interface AgentFlags {
  url?: string | undefined;
  'endpoint-token'?: string | undefined;
  'endpoint-token-file'?: string | undefined;
  once: boolean;
  state: string;
  rate: number;
}

/** `evidence-platform agent`: says to the endpoint service what stands at the paths that it wants to know of. */
export const agentCommand: CommandModule<object, AgentFlags> = {
  command: 'agent',
  describe: 'Hash the binaries of this machine, and report them to the endpoint service, again and again',
  builder: (args) =>
    args
      .option('url', {
        type: 'string',
        requiresArg: true,
        describe: 'The endpoint service, as https://evidence.example.org/endpoints; or EVIDENCE_ENDPOINT_URL',
      })
      .option('endpoint-token-file', {
        type: 'string',
        requiresArg: true,
        describe: 'A file with the token of this endpoint; or EVIDENCE_ENDPOINT_TOKEN_FILE, EVIDENCE_ENDPOINT_TOKEN',
      })
      .option('endpoint-token', {
        type: 'string',
        requiresArg: true,
        describe: 'The token itself. Everybody on this machine sees it in ps: better is a file',
      })
      .conflicts('endpoint-token', 'endpoint-token-file')
      .option('once', { type: 'boolean', default: false, describe: 'Report once, and end' })
      .option('state', {
        type: 'string',
        default: '/var/lib/evidence-agent',
        requiresArg: true,
        describe: 'The folder for its key and its last report',
      })
      .option('rate', {
        type: 'number',
        default: 100,
        requiresArg: true,
        describe: 'At most so many MiB are read in a second; 0 for as fast as it goes',
      })
      .check(({ rate }) => (Number.isFinite(rate) && rate >= 0) || '--rate is not a number of MiB')
      .example('$0 agent --url https://evidence.example.org/endpoints --endpoint-token-file token', '')
      .epilogue('More: evidence-platform help endpoints'),
  async handler(flags) {
    const environment = process.env;
    const url = flags.url ?? environment['EVIDENCE_ENDPOINT_URL'];
    if (url === undefined || url === '')
      throw new EvidenceError(
        'usage',
        'agent needs --url or EVIDENCE_ENDPOINT_URL, the address of the endpoint service',
      );
    const token = tokenOf(flags, environment);
    const { runAgent } = await import('./run.ts');
    const { rate, state, once } = flags;
    await runAgent({ url, token, state, once, bytesPerSecond: rate === 0 ? null : rate * 2 ** 20 });
  },
};

/** A flag outweighs the environment. */
function tokenOf(flags: AgentFlags, environment: NodeJS.ProcessEnv): string {
  const { EVIDENCE_ENDPOINT_TOKEN: given, EVIDENCE_ENDPOINT_TOKEN_FILE: givenFile } = environment;
  const file = flags['endpoint-token-file'];
  const token = flags['endpoint-token'] ?? (file === undefined ? given : undefined);
  if (token !== undefined && token !== '') return token.trim();
  const path = file ?? givenFile;
  if (path !== undefined && path !== '') return readToken(path);
  throw new EvidenceError('usage', 'agent needs the token of this endpoint', {
    nextStep: 'Name its file with --endpoint-token-file. The service shows the token when the endpoint is enrolled.',
  });
}

function readToken(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new EvidenceError('config', `the token of this endpoint cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
}
