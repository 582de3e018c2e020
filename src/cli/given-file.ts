import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { type ErrorDetails, EvidenceError, messageOf } from '../errors.ts';

/** Keys, certificates, contracts and configurations are far shorter. */
const MAX_BYTES = 16 * 2 ** 20;

/**
 * Reads a file that the user named, or that lies where a configuration is looked for. A link may lead to it, as those of
 * Kubernetes secrets do. Anything but a file of ordinary length is not read: a named pipe would never end.
 *
 * @param what the file is, for errors: "the public key".
 * @throws EvidenceError `config` naming it; its `cause` has the code `ENOENT` where there is none.
 */
export function readGivenFile(what: string, path: string, details: Pick<ErrorDetails, 'nextStep'> = {}): Buffer {
  try {
    refuseOthers(statSync(path));
    // What stands there may have been exchanged since: opened like this a named pipe does not wait for its other end.
    const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      refuseOthers(fstatSync(file));
      return readWhole(file);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    const why = error instanceof Refusal ? `: ${messageOf(error)}` : '';
    throw new EvidenceError('config', `the file of ${what}, ${path}, cannot be read${why}`, {
      ...details,
      cause: error,
    });
  }
}

/** Its text, in UTF-8. @throws as `readGivenFile` does. */
export function readGivenText(what: string, path: string): string {
  return readGivenFile(what, path).toString('utf8');
}

class Refusal extends Error {}

function refuseOthers(found: { isFile(): boolean; isDirectory(): boolean }): void {
  if (found.isFile()) return;
  throw new Refusal(`it is ${found.isDirectory() ? 'a folder' : 'a named pipe, a device or a socket'}, not a file`);
}

/** What the system says of the length of a file may be wrong: those of /proc have none. */
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
