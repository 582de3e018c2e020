import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { EvidenceError } from '../../../core/errors.ts';

/** Error that refuses a file of an archive. Its message is a clause that continues after the name of the file. */
export class ArchiveRefusal extends Error {}

/** Debian programs that verify and unpack archives, with the package of each. */
const PACKAGES = { gpgv: 'gpgv', 'dpkg-deb': 'dpkg', '/usr/lib/apt/apt-helper': 'apt' } as const;
type DebianProgram = keyof typeof PACKAGES;

/** Memory limit of a program. The largest compression window of a Debian package is 128 MB. */
const ADDRESS_SPACE_BYTES = 2 ** 30;

/** Exit code of prlimit if a program does not exist. */
const NOT_FOUND = 127;

const MAX_TOLD = 2 ** 20;

interface ProgramCall {
  args: readonly string[];
  /** Input of the program. All of it is consumed, even if the program stops reading earlier. */
  input: AsyncIterable<Uint8Array>;
}

/** Exit code of a program, with its output on standard error and on descriptor 3. */
interface Ended {
  code: number | null;
  complaint: string;
  status: string;
}

/** Error of a program that failed. */
export class ProgramFailure extends Error {}

/**
 * Starts a program with limited memory and a clean environment. The program is killed if its output is no longer read.
 * @throws EvidenceError `config`, from `ended`, if the program is not installed.
 */
export function start(program: DebianProgram, { args, input }: ProgramCall) {
  const limits = [`--as=${ADDRESS_SPACE_BYTES}`, '--core=0'];
  const child = spawn('prlimit', [...limits, program, ...args], {
    stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C', DPKG_DEB_THREADS_MAX: '1' },
  });
  const [stdin, stdout, stderr, status] = child.stdio as [Writable, Readable, Readable, Readable, ...unknown[]];
  const all = [once(child, 'close'), feed(child, stdin, input), textOf(stderr), textOf(status)] as const;
  const ended = Promise.all(all).then(([[code], , complaint, told]): Ended => ({ code, complaint, status: told }));
  const judged = ended.then(refuseMissing(program), notStarted(program));
  // A reader that stops early does not await the result.
  judged.catch(() => {});
  return { output: untilDone(child, stdout), ended: judged };
}

/**
 * Yields a program's output, piece by piece.
 * @throws ProgramFailure with its error output, after the last piece; EvidenceError as `start`.
 */
export async function* outputOf(program: DebianProgram, call: ProgramCall): AsyncGenerator<Uint8Array> {
  const { output, ended } = start(program, call);
  yield* output;
  const { code, complaint } = await ended;
  if (code !== 0) throw new ProgramFailure(complaint.trim().replaceAll('\n', '; ') || `${program} ended with ${code}`);
}

async function* untilDone(child: ChildProcess, stdout: Readable): AsyncGenerator<Uint8Array> {
  let isWhole = false;
  try {
    yield* stdout as AsyncIterable<Uint8Array>;
    isWhole = true;
  } finally {
    if (!isWhole) child.kill('SIGKILL');
  }
}

async function feed(child: ChildProcess, stdin: Writable, input: AsyncIterable<Uint8Array>): Promise<void> {
  const closed = new Promise<'closed'>((resolve) => {
    for (const event of ['close', 'error']) stdin.once(event, () => resolve('closed'));
  });
  try {
    for await (const piece of input) {
      if (child.killed) return;
      // Consumes the input even if the program no longer reads it.
      if (stdin.writable && !stdin.write(piece)) await Promise.race([once(stdin, 'drain').catch(() => {}), closed]);
    }
    stdin.end();
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

async function textOf(stream: Readable): Promise<string> {
  let text = '';
  for await (const piece of stream.setEncoding('utf8')) if (text.length < MAX_TOLD) text += piece;
  return text;
}

/** Returns a handler that explains a program that did not start, and rethrows failures of its input. */
function notStarted(program: DebianProgram) {
  return (error: unknown): never => {
    throw (error as NodeJS.ErrnoException).code === 'ENOENT' &&
      (error as NodeJS.ErrnoException).syscall?.startsWith('spawn')
      ? missing(program, 'util-linux')
      : error;
  };
}

function refuseMissing(program: DebianProgram) {
  return (ended: Ended): Ended => {
    if (ended.code === NOT_FOUND) throw missing(program, PACKAGES[program]);
    return ended;
  };
}

function missing(program: DebianProgram, inPackage: string): EvidenceError {
  return new EvidenceError('config', `${program} cannot be started`, {
    nextStep: `Install it: apt-get install ${inPackage}`,
  });
}
