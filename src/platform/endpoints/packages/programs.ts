import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { EvidenceError } from '../../../core/errors.ts';

/** Refuses a file of an archive. The message is a clause that goes on from the name of the file. */
export class ArchiveRefusal extends Error {}

/** The programs of Debian that judge and open what Debian made, and the package that each is in. */
const PACKAGES = { gpgv: 'gpgv', 'dpkg-deb': 'dpkg', '/usr/lib/apt/apt-helper': 'apt' } as const;
type DebianProgram = keyof typeof PACKAGES;

/** The memory limit of a program. The largest window of a Debian package is 128 MB. */
const ADDRESS_SPACE_BYTES = 2 ** 30;

/** The exit code of prlimit for a program that is not there. */
const NOT_FOUND = 127;

const MAX_TOLD = 2 ** 20;

interface ProgramCall {
  args: readonly string[];
  /** The program's input. All of it is read, even if the program stops earlier. */
  input: AsyncIterable<Uint8Array>;
}

/** The end of a program, with its standard error and its descriptor 3. */
interface Ended {
  code: number | null;
  complaint: string;
  status: string;
}

/** A program that ended otherwise than well. */
export class ProgramFailure extends Error {}

/**
 * Starts a program with bounded memory, and nothing of this one's environment. It is ended when its output is read no
 * more.
 * @throws EvidenceError `config`, from `ended`, where it is not installed.
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
  // A reader that ends early does not wait for it.
  judged.catch(() => {});
  return { output: untilDone(child, stdout), ended: judged };
}

/**
 * Yields a program's output, piece by piece.
 * @throws ProgramFailure with what it complained of, after the last piece; EvidenceError as `start`.
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
      // Input that it does not take is read all the same.
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

/** Explains a program that did not start. Reading its input can fail, too. */
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
    nextStep: `Install the Debian package that has it: apt-get install ${inPackage}`,
  });
}
