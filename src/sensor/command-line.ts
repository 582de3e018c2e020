import { readFileSync } from 'node:fs';
import process from 'node:process';
import { parseArgs } from 'node:util';
import manifest from '../../package.json' with { type: 'json' };
import { EvidenceError, isEvidenceError, messageOf } from '../core/errors.ts';
import { exitCodeOfError } from '../core/terminal/exit.ts';
import { runSensor, type SensorOptions } from './run.ts';

const OPTIONS = {
  url: { type: 'string' },
  'endpoint-token-file': { type: 'string' },
  'endpoint-token': { type: 'string' },
  once: { type: 'boolean' },
  state: { type: 'string' },
  rate: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
} as const;

const HELP = `evidence-sensor --url ADDRESS --endpoint-token-file FILE

Hashes the binaries of this machine and reports them to the endpoint service, again and again.

  --url                  the endpoint service, as https://evidence.example.org/endpoints; or EVIDENCE_ENDPOINT_URL
  --endpoint-token-file  a file with the token of this endpoint; or EVIDENCE_ENDPOINT_TOKEN_FILE, EVIDENCE_ENDPOINT_TOKEN
  --endpoint-token       the token itself, which everybody on this machine sees in ps: better is a file
  --once                 reports once, and ends
  --state                the folder for its key and its last report [/var/lib/evidence-sensor]
  --rate                 MiB that are read in a second, at most; 0 for as fast as it goes [100]
  -h, --help             prints this
  -V, --version          prints the version

Exit codes: 0 reported; 1 the service has another chain of this endpoint; 2 usage or configuration; 3 the service could
not be reached, or the disk is full; 5 the token was refused; 70 a defect.
`;
const SEE_HELP = { nextStep: 'See evidence-sensor --help.' };

/** Runs the command line of `evidence-sensor`. @returns its exit code. */
export async function evidenceSensor(args: string[], environment: NodeJS.ProcessEnv): Promise<number> {
  try {
    requireNode();
    const flags = readFlags(args);
    if (flags.help || flags.version) process.stdout.write(flags.help ? HELP : `${manifest.version}\n`);
    else await runSensor(toOptions(flags, environment));
    return 0;
  } catch (error) {
    const defect = `This is a defect of evidence-sensor: ${error instanceof Error ? error.stack : error}`;
    const next = isEvidenceError(error) && error.nextStep !== undefined ? `\n${error.nextStep}` : '';
    process.stderr.write(`${isEvidenceError(error) ? `${error.message}${next}` : defect}\n`);
    return exitCodeOfError(error);
  }
}

/** Checks the version of Node.js: the single file has no launcher that checks it. @throws EvidenceError `config`. */
function requireNode(): void {
  const { node } = manifest.engines;
  if (Number.parseInt(process.versions.node, 10) >= Number(node.replace('>=', ''))) return;
  throw new EvidenceError('config', `evidence-sensor needs Node.js ${node}; this is ${process.version}`, {
    nextStep: `It was started by ${process.execPath}.`,
  });
}

type Flags = ReturnType<typeof readFlags>;

/** @throws EvidenceError `usage`. */
function readFlags(args: string[]) {
  try {
    const { values, tokens } = parseArgs({ args, options: OPTIONS, tokens: true });
    const names = tokens.flatMap((token) => (token.kind === 'option' ? token.name : []));
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice === undefined) return values;
    throw new EvidenceError('usage', `--${twice} is given more than once`, SEE_HELP);
  } catch (error) {
    // The sentences after the first one of parseArgs's message concern another case.
    if (error instanceof TypeError) throw new EvidenceError('usage', error.message.replace(/\. .*$/s, ''), SEE_HELP);
    throw error;
  }
}

/** @throws EvidenceError `usage`, `config`. */
function toOptions(flags: Flags, environment: NodeJS.ProcessEnv): SensorOptions {
  const url = flags.url ?? environment['EVIDENCE_ENDPOINT_URL'] ?? '';
  if (url === '') throw new EvidenceError('usage', 'evidence-sensor needs --url or EVIDENCE_ENDPOINT_URL', SEE_HELP);
  const { state = '/var/lib/evidence-sensor', once = false, rate: given = '100' } = flags;
  const rate = given.trim() === '' ? Number.NaN : Number(given);
  if (!Number.isFinite(rate) || rate < 0) throw new EvidenceError('usage', '--rate is not a number of MiB', SEE_HELP);
  return { url, token: tokenOf(flags, environment), state, once, bytesPerSecond: rate === 0 ? null : rate * 2 ** 20 };
}

/** Reads the token; flags take precedence over the environment. @throws EvidenceError `usage`, `config`. */
function tokenOf(flags: Flags, environment: NodeJS.ProcessEnv): string {
  const { EVIDENCE_ENDPOINT_TOKEN: given, EVIDENCE_ENDPOINT_TOKEN_FILE: givenFile } = environment;
  const { 'endpoint-token': flag, 'endpoint-token-file': file } = flags;
  if (flag !== undefined && file !== undefined)
    throw new EvidenceError('usage', '--endpoint-token and --endpoint-token-file are both given: one is enough');
  const token = flag ?? (file === undefined ? given : undefined);
  if (token !== undefined && token !== '') return token.trim();
  const path = file ?? givenFile;
  if (path !== undefined && path !== '') return readToken(path);
  throw new EvidenceError('usage', 'evidence-sensor needs the token of this endpoint', {
    nextStep: 'Name its file with --endpoint-token-file. The service shows the token when the endpoint is enrolled.',
  });
}

function readToken(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new EvidenceError('config', `the token of this endpoint cannot be read: ${messageOf(error)}`, {
      nextStep: 'Name its file with --endpoint-token-file.',
      cause: error,
    });
  }
}
