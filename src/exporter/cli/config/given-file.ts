import { closeSync, constants, existsSync, fstatSync, openSync, readdirSync, readSync, statSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { type ErrorDetails, EvidenceError, isSystemError, messageOf } from '../../../core/errors.ts';
import type { FileConfig } from './config-file.ts';

/** Size limit, far above the size of keys, certificates, contracts and configurations. */
const MAX_BYTES = 16 * 2 ** 20;

/**
 * Reads a file that the user named, or a configuration at a default path. Links are followed, because Kubernetes
 * secrets use them. Only files of ordinary length are read: a named pipe would never end.
 *
 * @param what the file is, for errors: "the public key".
 * @throws EvidenceError `config` with the file and the reason; its `cause` has the code `ENOENT` if the file does not
 * exist.
 */
export function readGivenFile(what: string, path: string, details: Pick<ErrorDetails, 'nextStep'> = {}): Buffer {
  try {
    refuseOthers(statSync(path));
    // The file may have been replaced since `stat`; O_NONBLOCK keeps a named pipe from blocking the open.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      refuseOthers(fstatSync(file));
      return readWhole(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const isAbsent = isSystemError(error) && error.code !== undefined && ABSENT.has(error.code);
    const message = isAbsent
      ? describeAbsent(what, path)
      : `the file of ${what}, ${path}, cannot be read: ${whyNot(error)}`;
    throw new EvidenceError('config', message, {
      nextStep: isAbsent ? 'Check its name and folder.' : 'Fix that file, or name another one.',
      ...details,
      cause: error,
    });
  }
}

/** Reads a file as UTF-8. @throws as `readGivenFile` does. */
export function readGivenText(what: string, path: string): string {
  return readGivenFile(what, path).toString('utf8');
}

/** Maximum number of files, far above the number of keys: a stream with a new key every month has 120 in ten years. */
const MAX_FILES = 100_000;

/**
 * Returns the names of the files in a folder that the user named, without hidden ones.
 * @throws EvidenceError `config` with the folder and the reason.
 */
export function listGivenFolder(what: string, path: string): string[] {
  try {
    const files = readdirSync(path, { withFileTypes: true }).filter(
      (entry) => !entry.isDirectory() && !entry.name.startsWith('.'),
    );
    if (files.length > MAX_FILES) throw new Refusal(`it contains more than ${MAX_FILES} files`);
    return files.map(({ name }) => name).toSorted();
  } catch (error) {
    throw new EvidenceError('config', `the folder of ${what}, ${path}, cannot be read: ${whyNot(error)}`, {
      nextStep: 'Check its name, or name each key and its file: seal_keys: { ID: FILE }.',
      cause: error,
    });
  }
}

/**
 * Reads certificates in PEM. Throws if there are none, because the file would otherwise be ignored. @throws as
 * `readGivenFile` does.
 */
export function readCertificates(what: string, path: string): string {
  const text = readGivenText(what, path);
  if (/-----BEGIN (TRUSTED )?CERTIFICATE-----/.test(text)) return text;
  throw new EvidenceError('config', `the file of ${what}, ${path}, contains no PEM certificate`, {
    nextStep: 'A PEM certificate starts with -----BEGIN CERTIFICATE-----.',
  });
}

/**
 * Refuses a secret key that others can read. Its group may read it, because Kubernetes gives secrets to the group of
 * containers that do not run as root.
 * @throws EvidenceError `config` with the file.
 */
export function refuseOpen(what: string, path: string): void {
  if ((statSync(path).mode & OPEN_TO_OTHERS) === 0) return;
  throw new EvidenceError('config', `the file of ${what}, ${path}, can be read or changed by other users`, {
    nextStep: `Restrict access: chmod 600 ${path}.`,
  });
}

const OPEN_TO_OTHERS = 0o027;

class Refusal extends Error {}

const ABSENT = new Set(['ENOENT', 'ENOTDIR', 'ENAMETOOLONG', 'EINVAL']);
const WHY_NOT: Record<string, string> = {
  EACCES: 'this user may not read it',
  EPERM: 'this user may not read it',
  ELOOP: 'its symbolic links form a loop',
  ENOENT: 'it does not exist',
  ENOTDIR: 'it is not a folder',
};

function whyNot(error: unknown): string {
  if (error instanceof Refusal) return messageOf(error);
  const { code } = error as NodeJS.ErrnoException;
  return WHY_NOT[code ?? ''] ?? code ?? 'unknown error';
}

/**
 * Extensions of file names. A missing file with another name may be a secret given by mistake, so it is not repeated.
 */
const FILE_NAME = /^\.(ya?ml|json|pem|pub|crt|cer|key|txt|age|zip)$/i;
/** Path that ends in lowercase words, such as `/etc/evidence/api-key` or `./keys/k1`. No key has this form. */
const WORDS = /\/[a-z]{1,16}([-_.][a-z]{1,16}){0,3}\d?$/;

function describeAbsent(what: string, path: string): string {
  if (FILE_NAME.test(extname(path)) || WORDS.test(path)) return `the file of ${what}, ${path}, does not exist`;
  return `the file of ${what} does not exist: ${nearestThere(dirname(path))} contains nothing with the given name`;
}

function nearestThere(folder: string): string {
  return existsSync(folder) || basename(folder) === '' ? folder : nearestThere(dirname(folder));
}

function refuseOthers(found: { isFile(): boolean; isDirectory(): boolean }): void {
  if (found.isFile()) return;
  throw new Refusal(`it is ${found.isDirectory() ? 'a folder' : 'a named pipe, a device or a socket'}, not a file`);
}

/** Reads a whole file without relying on its stated length, which is 0 for files in /proc. */
function readWhole(file: number): Buffer {
  const blocks: Buffer[] = [];
  for (let bytes = 0; ; ) {
    const block = Buffer.alloc(64 * 1024);
    const length = readSync(file, block);
    if (length === 0) return Buffer.concat(blocks);
    bytes += length;
    if (bytes > MAX_BYTES) throw new Refusal(`it has more than ${MAX_BYTES} bytes`);
    blocks.push(block.subarray(0, length));
  }
}

export const CONFIG_FILE = 'evidence.yaml';

/** Configuration file that was read. */
export interface Found {
  file: FileConfig;
  /** Folder that its paths are relative to. */
  folder: string;
  /** Path as given; null if no file was read. */
  given: string | null;
}

/** @param fallback file that is read if it exists and no file is given; null for none. */
export async function readConfigFile(
  file: string | undefined,
  directory: string,
  fallback: string | null,
): Promise<Found> {
  const given = file ?? fallback;
  const nothing = { file: {}, folder: directory, given: null };
  if (given === null) return nothing;
  const path = resolve(directory, given);
  let text: string;
  try {
    text = readGivenText('the configuration', path);
  } catch (error) {
    const isAbsent = ((error as Error).cause as NodeJS.ErrnoException | undefined)?.code === 'ENOENT';
    if (file === undefined && isAbsent) return refuseOtherName(directory) ?? nothing;
    throw error;
  }
  // Loaded on demand: it takes half of a command's start-up time, and many commands run without a file.
  const { parseConfigFile } = await import('./config-file.ts');
  return { file: parseConfigFile(text, path), folder: dirname(path), given };
}

/** @throws EvidenceError `config` if a configuration file has the wrong extension. */
function refuseOtherName(directory: string): null {
  if (!existsSync(resolve(directory, OTHER_NAME))) return null;
  throw new EvidenceError('config', `${OTHER_NAME} exists but is not read; the configuration file is ${CONFIG_FILE}`, {
    nextStep: `Rename it, or use --config ${OTHER_NAME}.`,
  });
}

const OTHER_NAME = 'evidence.yml';
