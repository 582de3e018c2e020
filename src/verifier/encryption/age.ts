import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Decrypter, Encrypter } from 'age-encryption';
import { StreamingSha256 } from '../../core/digest.ts';
import { EvidenceError, isSystemError, messageOf } from '../../core/errors.ts';
import type { Identities, Recipients } from './keys.ts';

/** Length and SHA-256 (hex) of a file. */
interface MeasuredFile {
  bytes: number;
  sha256: string;
}

const BLOCK = 256 * 1024;
const FILE_MODE = 0o600;
/** The most bytes of a header; a recipient of the largest kind has two thousand. */
const MAX_HEADER_BYTES = 1024 * 1024;
const NO_MATCH = /no identity matched/;

/**
 * Encrypts a file into another one, a block at a time, and decrypts that again to see that it holds the first.
 * @throws EvidenceError `unreadable` where it does not.
 */
export async function encryptFile(
  source: string,
  target: string,
  { names }: Recipients,
  expected: MeasuredFile,
  signal: AbortSignal,
): Promise<MeasuredFile> {
  const encrypter = new Encrypter();
  for (const name of names) encrypter.addRecipient(name);
  let key = new Uint8Array();
  // Not a recipient, which would be in the header: by the key of this one file it can be read back without a secret.
  encrypter.addRecipient({
    wrapFileKey: (fileKey) => {
      key = fileKey.slice();
      return [];
    },
  });
  const encrypted = await encrypter.encrypt(toWeb(source));
  const content = await write(encrypted, target, signal);
  const decrypter = new Decrypter();
  decrypter.addIdentity({ unwrapFileKey: () => key });
  const actual = await measure(await decrypter.decrypt(toWeb(target)), signal);
  key.fill(0);
  if (actual.sha256 === expected.sha256 && actual.bytes === expected.bytes) return content;
  throw new EvidenceError('unreadable', `${target} does not decrypt to what was encrypted; nothing was stored`, {
    nextStep: 'Check this machine (memory, disk), then run the same command again.',
  });
}

/**
 * Decrypts a file into another one, a block at a time.
 * @returns null where it is not for any of these identities.
 * @throws EvidenceError `unreadable` for what is not a file of age, or was altered.
 */
export async function decryptFile(
  source: string,
  target: string,
  identities: Identities,
): Promise<MeasuredFile | null> {
  await checkHeader(source);
  try {
    return await write(await identities.decrypt(toWeb(source)), target);
  } catch (error) {
    // A disk that takes nothing says nothing of what is decrypted.
    if (isSystemError(error) && error.syscall !== 'read') throw error;
    if (NO_MATCH.test(messageOf(error))) return null;
    throw new EvidenceError('unreadable', `cannot be decrypted: ${messageOf(error)}`, { cause: error });
  }
}

/** The header is read into memory as a whole, so it must not be as long as somebody likes. */
async function checkHeader(path: string): Promise<void> {
  const file = await open(path, 'r');
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_HEADER_BYTES), 0, MAX_HEADER_BYTES, 0);
    const text = buffer.subarray(0, bytesRead).toString('latin1');
    if (text.startsWith('age-encryption.org/v1\n') && text.includes('\n--- ')) return;
    throw new EvidenceError('unreadable', 'is not a file that age encrypted');
  } finally {
    await file.close();
  }
}

function toWeb(path: string): ReadableStream<Uint8Array> {
  return Readable.toWeb(createReadStream(path, { highWaterMark: BLOCK })) as ReadableStream<Uint8Array>;
}

function fromWeb(stream: ReadableStream<Uint8Array>): Readable {
  return Readable.fromWeb(stream as Parameters<typeof Readable.fromWeb>[0]);
}

async function write(stream: ReadableStream<Uint8Array>, target: string, signal?: AbortSignal): Promise<MeasuredFile> {
  const digest = new StreamingSha256();
  const file = createWriteStream(target, { flags: 'wx', mode: FILE_MODE });
  await pipeline(fromWeb(stream), (blocks) => digest.through(blocks), file, signal === undefined ? {} : { signal });
  return digest.finish();
}

async function measure(stream: ReadableStream<Uint8Array>, signal: AbortSignal): Promise<MeasuredFile> {
  const digest = new StreamingSha256();
  for await (const block of fromWeb(stream) as AsyncIterable<Uint8Array>) {
    signal.throwIfAborted();
    digest.update(block);
  }
  return digest.finish();
}
