import { Decrypter, Encrypter } from 'age-encryption';
import { EvidenceError } from '../../core/errors.ts';

/** Those who can decrypt what is encrypted now. */
export interface Recipients {
  /** As they were given: public. */
  names: readonly string[];
}

/**
 * Recipients of age (C2SP, age.md), each checked as far as its text can tell.
 * @param source names where they were given, in errors.
 * @throws EvidenceError `config` naming the one that is none. What may be a secret key is not repeated.
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
