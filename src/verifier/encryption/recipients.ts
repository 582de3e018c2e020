import { Encrypter } from 'age-encryption';
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
