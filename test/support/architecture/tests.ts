import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { eachFile, ROOT, type Rule } from './sources.ts';
import { COMMENTS_NAME_THEIR_SUBJECT } from './style.ts';

// Attacks on the platform are on all of it.
const PRODUCTS = /^(core|exporter|library|platform(?!\/attacks)|probe|sensor|verifier)\/.*\.test\.ts$/;

/** Rules about the tests themselves. */
export const TEST_RULES: readonly Rule[] = [
  eachFile(
    'tests stand where their subjects stand',
    PRODUCTS,
    ({ path }) => (existsSync(join(ROOT, 'src', dirname(path))) ? [] : ['']),
    {
      // Allowed: the C decoder as a separate program, and encryption, which exports and verifications share.
      allowed: ['exporter/encryption/age.test.ts', 'verifier/decode/native/native.test.ts'],
      example: ['core/nowhere/example.test.ts', '', 'core/nowhere/example.test.ts'],
    },
  ),
  eachFile(
    'no test is left out, and none is alone',
    /\.ts$/,
    ({ code }) => code.match(/\b(?:test|describe|it)(?:\.\w+)*\.(?:skip|only|todo|skipIf|runIf)\b(?!')/g) ?? [],
    { example: ['core/example.test.ts', `test${'.skip'}('x', () => {});`, 'core/example.test.ts: test.skip'] },
  ),
  // A worker loads shared modules only for its first file.
  eachFile(
    'what tests share has no hooks of its own',
    /^(?!support\/own-variables\.ts$)(?!.*\.test\.ts$)/,
    ({ code }) => code.match(/^(?:before|after)(?:Each|All)(?=\()/gm) ?? [],
    { example: ['support/example.ts', 'beforeEach(() => {});', 'support/example.ts: beforeEach'] },
  ),
  { ...COMMENTS_NAME_THEIR_SUBJECT, rule: 'no comment of tests begins with a relative word' },
];
