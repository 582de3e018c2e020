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
/** Maximum size of a header; a recipient of the largest kind takes two thousand bytes. */
const MAX_HEADER_BYTES = 1024 * 1024;
const NO_MATCH = /no identity matched/;

/**
 * Encrypts a file into another one, block by block, and decrypts the result to check that it holds the same content.
 * @throws EvidenceError `unreadable` if it does not.
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
  // Captures the key of this file, which allows reading it back without a secret; adds nothing to the header.
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
    nextStep: { before: 'Check this machine (memory, disk), then' },
  });
}

/**
 * Decrypts a file into another one, block by block.
 * @returns null if the file is for none of these identities.
 * @throws EvidenceError `unreadable` if it is no file of age, or was altered.
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
    // A failing target disk says nothing about the decrypted file.
    if (isSystemError(error) && error.syscall !== 'read') throw error;
    if (NO_MATCH.test(messageOf(error))) return null;
    throw new EvidenceError('unreadable', `cannot be decrypted: ${messageOf(error)}`, { cause: error });
  }
}

/** Checks that the header, which is read into memory as a whole, has a limited length. */
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
