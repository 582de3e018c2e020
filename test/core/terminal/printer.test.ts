import { describe, expect, test } from 'vitest';
import { EvidenceError } from '../../../src/core/errors.ts';
import { Printer } from '../../../src/core/terminal/printer.ts';

function print(options: { json?: boolean; quiet?: boolean }, work: (printer: Printer) => void) {
  const [out, err]: [string[], string[]] = [[], []];
  const stdout = { write: (text: string) => out.push(text) };
  const stderr = { write: (text: string) => err.push(text) };
  work(new Printer({ json: options.json === true, quiet: options.quiet === true, stdout, stderr }));
  return { out: out.join(''), err: err.join('') };
}

const everything = (printer: Printer) => {
  printer.result('a result');
  printer.note('a note');
  printer.document('evidence-test/1', { a: 1 });
};

const CHANNELS: [string, { json?: boolean; quiet?: boolean }, string, string][] = [
  ['for people', {}, 'a result\n', 'a note\n'],
  ['quiet', { quiet: true }, 'a result\n', ''],
  ['as JSON', { json: true }, '{\n  "format": "evidence-test/1",\n  "a": 1\n}\n', 'a note\n'],
  ['as JSON, quiet', { json: true, quiet: true }, '{\n  "format": "evidence-test/1",\n  "a": 1\n}\n', ''],
];

test.each(CHANNELS)('what goes where: %s', (_words, options, out, err) => {
  expect(print(options, everything)).toEqual({ out, err });
});

const FAILURES: [string, unknown, RegExp, object][] = [
  [
    'an error that is known',
    new EvidenceError('config', 'the file is wrong', { nextStep: 'Mend it.' }),
    /^evidence: the file is wrong\nMend it\.\n$/,
    { outcome: 'error', exit_code: 2, error: { code: 'config', message: 'the file is wrong', next_step: 'Mend it.' } },
  ],
  [
    'one without a next step',
    new EvidenceError('refused', 'no'),
    /^evidence: no\n$/,
    { outcome: 'error', exit_code: 5, error: { code: 'refused', message: 'no', next_step: null } },
  ],
  [
    'a defect',
    new TypeError('x is not a function'),
    /^evidence: a defect in this program: TypeError: x is not a function\n +at .*printer\.test/,
    { outcome: 'error', exit_code: 70, error: { code: 'defect', message: 'x is not a function', next_step: null } },
  ],
  [
    'something else that was thrown',
    'text',
    /^evidence: text\n$/,
    { outcome: 'error', exit_code: 70, error: { code: 'defect', message: 'text', next_step: null } },
  ],
];

describe('a failure', () => {
  test.each(FAILURES)('%s', (_words, thrown, words, document) => {
    const people = print({ quiet: true }, (printer) => printer.failure(thrown));
    expect(people.err).toMatch(words);
    expect(people.out).toBe('');
    const { out, err } = print({ json: true }, (printer) => printer.failure(thrown));
    expect(JSON.parse(out)).toEqual({ format: 'evidence-error/1', ...document });
    expect(err).toMatch(words);
  });
});

const SECRETS = ['sk_live_0123', 'with "quotes" and \\', 'a.b*c(d', '$&$1', 'sk_live_0123456'];

describe('a secret that the printer knows', () => {
  test.each(SECRETS)('%s passes neither channel', (secret) => {
    for (const json of [false, true]) {
      const { out, err } = print({ json }, (printer) => {
        for (const kept of SECRETS) printer.keepSecret(kept);
        printer.result(`${secret} ${secret}`);
        printer.note(`[${secret}]`);
        printer.document('evidence-test/1', { [secret]: [secret, { deep: `x${secret}y` }] });
        printer.failure(new EvidenceError('service', `said ${secret}`, { nextStep: `not ${secret}` }));
        printer.failure(new TypeError(secret));
      });
      for (const form of [secret, JSON.stringify(secret).slice(1, -1)]) expect(out + err).not.toContain(form);
      expect(err).toContain('[***]');
    }
  });

  test('of two that begin alike the longer one leaves nothing behind', () => {
    const { out } = print({}, (printer) => {
      printer.keepSecret('sk_live');
      printer.keepSecret('sk_live_0123');
      printer.result('sk_live_0123');
    });
    expect(out).toBe('***\n');
  });

  test('what is too short to be one is left alone', () => {
    const { out } = print({}, (printer) => {
      printer.keepSecret('');
      printer.keepSecret('abc');
      printer.result('abcdef');
    });
    expect(out).toBe('abcdef\n');
  });
});
