import { Decrypter } from 'age-encryption';
import { EvidenceError } from '../../core/errors.ts';

/** The secret keys of recipients. It neither prints nor serialises what it holds. */
export class Identities {
  readonly #secrets: readonly string[];

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /** Decrypts a file of age. Its error says `no identity matched` if the file is for other recipients. */
  decrypt(file: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
    const decrypter = new Decrypter();
    for (const secret of this.#secrets) decrypter.addIdentity(secret);
    return decrypter.decrypt(file);
  }
}

/**
 * The identities of files as `age-keygen` writes them: one a line, and lines that begin with #.
 * @param source of each text, named in errors; what it holds never is.
 * @throws EvidenceError `config` for a text that holds none, or something else.
 */
export function readIdentities(files: readonly { text: string; source: string }[]): Identities {
  return new Identities(files.flatMap(({ text, source }) => readLines(text, source)));
}

function readLines(text: string, source: string): string[] {
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const secrets = lines.filter((line) => line !== '' && !line.startsWith('#'));
  if (secrets.length === 0) throw noIdentity(source);
  for (const secret of secrets)
    try {
      new Decrypter().addIdentity(secret);
    } catch {
      throw noIdentity(source);
    }
  return secrets;
}

function noIdentity(source: string): EvidenceError {
  return new EvidenceError('config', `${source} is not a file of age identities`, {
    nextStep: 'Give the file that `age-keygen -o FILE` made; one that is encrypted itself has to be decrypted first.',
  });
}
