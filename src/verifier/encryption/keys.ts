import { Decrypter, Encrypter } from 'age-encryption';
import { EvidenceError } from '../../core/errors.ts';

/** Recipients who can decrypt newly encrypted files. */
export interface Recipients {
  /** Public names as given. */
  names: readonly string[];
}

/**
 * Checks recipients of age (C2SP, age.md), as far as their text shows.
 * @param source place where they were given, for errors.
 * @throws EvidenceError `config` with the name of an invalid one. A possible secret key is not repeated.
 */
export function readRecipients(names: readonly string[], source: string): Recipients {
  for (const [index, name] of names.entries()) {
    const place = `${source}[${index}]`;
    if (/age-secret-key/i.test(name))
      throw new EvidenceError('config', `${place} is a secret key, and recipients are public`, {
        nextStep: 'Give the recipient that belongs to it (age-keygen -y FILE), and take the key out of this file.',
      });
    try {
      new Encrypter().addRecipient(name);
    } catch {
      throw new EvidenceError(
        'config',
        `${place} is not a recipient of age${/^age1/.test(name) ? `: ${JSON.stringify(name)}` : ''}`,
        {
          nextStep:
            'A recipient is the line age1… that `age-keygen -o FILE` prints; recipients of plugins are not known here.',
        },
      );
    }
  }
  return { names };
}

/** Secret keys of recipients. Neither prints nor serializes its contents. */
export class Identities {
  readonly #secrets: readonly string[];

  constructor(secrets: readonly string[]) {
    this.#secrets = secrets;
  }

  /** Decrypts a file of age. The error says `no identity matched` if the file is for other recipients. */
  decrypt(file: ReadableStream<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
    const decrypter = new Decrypter();
    for (const secret of this.#secrets) decrypter.addIdentity(secret);
    return decrypter.decrypt(file);
  }
}

/**
 * Reads the identities in files of `age-keygen`: one per line, and comment lines that begin with #.
 * @param files texts, each with its source for errors; errors never include the text.
 * @throws EvidenceError `config` if a text has no identity, or something else.
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
