import { EvidenceError } from '../../../core/errors.ts';
import { MAX_SECRET, scrubber } from '../../../core/secret.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import { readGivenText } from './given-file.ts';

/** Text that the user gave, and its place: a flag, a variable, or a configuration key. */
export interface Word {
  place: string;
  text: string;
}

/** Secret with its description. */
export interface Secret {
  name: string;
  text: string;
}

/** Forms of secrets, which no name of a file, stream or bucket has. */
const FORMS: [form: RegExp, name: string][] = [
  [/(^|=)(hex|base64):/i, 'a key'],
  [/AGE-SECRET-KEY-/i, 'a secret key of age'],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----/, 'a private key'],
  [/[?&](X-Amz-Signature|X-Amz-Security-Token|Signature|sig)=/i, 'a link that is a secret'],
];

const OF_ENVIRONMENT: Record<string, string> = {
  EVIDENCE_API_KEY: 'the API key',
  EVIDENCE_QUEUE_URL: 'the address of the queue',
  EVIDENCE_PING_URL: 'the address of the ping',
  EVIDENCE_WEBHOOK_URL: 'the address of the webhook',
  EVIDENCE_WEBHOOK_SECRET: 'the secret of the webhook',
  EVIDENCE_SIGNING_PASSPHRASE: 'the passphrase of the signing key',
  AWS_SECRET_ACCESS_KEY: 'the secret key of the store',
  AWS_SESSION_TOKEN: 'the session token of the store',
};
/** Excluded variable: local stores have well-known access key ids that equal their secrets. */
const PUBLIC = 'AWS_ACCESS_KEY_ID';

/**
 * Minimum lengths for comparing secrets with texts, as a whole and as a part. Shorter secrets would occur in texts by
 * chance.
 */
const LEAST_WHOLE = 8;
const LEAST_PART = 12;

/** Returns the secrets in the environment. */
export function secretsOf(environment: NodeJS.ProcessEnv): Secret[] {
  return Object.entries(OF_ENVIRONMENT).flatMap(([variable, name]) => {
    const text = environment[variable]?.trim() ?? '';
    return text.length < LEAST_WHOLE ? [] : [{ name, text }];
  });
}

/** Keeps the secrets of the environment out of all output, before anything is read or refused. */
export function keepSecretsOf(environment: NodeJS.ProcessEnv, printer: Pick<Printer, 'keepSecret'>): void {
  for (const { text } of secretsOf(environment)) printer.keepSecret(text);
}

/**
 * Returns the secret in a file, as written and without its encoding prefix. An unreadable file yields none; the code
 * that needs it reports the reason.
 */
export function secretsIn(name: string, path: string): Secret[] {
  try {
    const text = readGivenText(name, path).trim();
    return [text, text.replace(/^(hex|base64):/, '')].map((one) => ({ name, text: one }));
  } catch {
    return [];
  }
}

/** Returns all texts in flags, variables and the configuration file, including member names. */
export function givenWords(flags: object, environment: NodeJS.ProcessEnv, file: object): Word[] {
  const variables = Object.entries(environment).filter(([name]) => /^(EVIDENCE|AWS)_/.test(name) && name !== PUBLIC);
  return [
    ...Object.entries(flags).flatMap(([name, value]) => [...wordsIn(value, `--${kebab(name)}`)]),
    ...variables.map(([name, text = '']) => ({ place: name, text })),
    ...wordsIn(file, 'the configuration file'),
  ];
}

function* wordsIn(value: unknown, place: string): Generator<Word> {
  if (typeof value === 'string') yield { place, text: value };
  else if (typeof value === 'object' && value !== null)
    for (const [name, member] of Object.entries(value)) {
      if (Array.isArray(value)) yield* wordsIn(member, place);
      else {
        yield { place, text: name };
        yield* wordsIn(member, place.startsWith('the ') ? name : `${place}.${name}`);
      }
    }
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/**
 * Refuses a secret in the wrong place, where it would be printed, sent or archived, and a secret that is too long for
 * all its forms to be kept out of the output.
 * @throws EvidenceError `config` with the place, never with the secret.
 */
export function refuseMisplaced(words: readonly Word[], secrets: readonly Secret[]): void {
  for (const { name, text } of secrets)
    if (text.length > MAX_SECRET)
      throw new EvidenceError('config', `${name} has ${text.length} characters; the maximum is ${MAX_SECRET}`, {
        nextStep: 'Nothing was sent. Check that the file or variable contains only the secret.',
      });
  const known = secrets
    .filter(({ text }) => text.length >= LEAST_WHOLE)
    .map((secret) => ({ ...secret, scrub: scrubber(secret.text) }));
  for (const { place, text } of words) {
    const [, form] = FORMS.find(([pattern]) => pattern.test(text)) ?? [];
    const owner = OF_ENVIRONMENT[place];
    const misplaced = known.find(
      (secret) =>
        secret.name !== owner &&
        (text === secret.text || (secret.text.length >= LEAST_PART && secret.scrub(text) !== text)),
    );
    const what = form ?? misplaced?.name;
    if (what === undefined) continue;
    throw new EvidenceError('config', `${place} contains ${what}, which does not belong there`, {
      nextStep:
        'Remove it and keep keys in separate files or the variables meant for them. If others could read it here, replace it.',
    });
  }
}
