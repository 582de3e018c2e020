import type { Sized, Sizes } from '../sizes.ts';
import { servicesOf } from './imports.ts';
import { atMost, eachFile, importing, nowhere, type Rule, reexporting, type SourceFile } from './sources.ts';
import {
  booleanArguments,
  callbacks,
  changingGetters,
  denyListMappers,
  isBarrel,
  misnamedGuards,
  mutableState,
  outParameters,
} from './syntax.ts';

const ALL = /./;
const LINE = "export const example = 'an example';\n";

/** Openings of comments that name no subject; comments start with a noun or a verb. */
const HEADLESS =
  /(?:\/\*\*\s+(?:\* )?|(?<!\/\/[^\n]*\n)^[^\S\n]*\/\/ )(What|Whether|Whose|Who|Whoever|Which|Why|Of|Where|How|That|So many|So much)\b[^\n]*/gm;

/** Commands, flags, settings and variables of the exporter, which users of the library do not have. */
const COMMAND_WORDS =
  /\bevidence (?:doctor|export|extend|help|hold|init|keygen|ledger|probe|release|restamp|runs|share|status|streams|verify|worker)\b|(?<![-\w<!])--[a-z]|['`]\S*\b(?:archive|queue|report|sign|source|verify)\.[a-z]+_[a-z_]+|\bEVIDENCE_[A-Z]/;

/** The example interpolates its word, so that this file passes the rule. */
export const COMMENTS_NAME_THEIR_SUBJECT: Rule = eachFile(
  'no comment begins with a relative word',
  ALL,
  ({ text }) => text.match(HEADLESS) ?? [],
  { example: ['core/example.ts', `/** ${'Whether'} it ended. */`, `core/example.ts: /** ${'Whether'} it ended. */`] },
);

/** Words that the project does not use in names and comments, each with its replacement. */
const OTHER_WORDS: readonly (readonly [word: RegExp, say: string])[] = [
  [/\bsealed runs?\b|\bseal(?:ing)? (?:a|the) run\b/i, 'finalize a run'],
  [/journey/i, 'stream job'],
  [/orphan/i, 'leftover'],
  [/surroundings/i, 'dependencies'],
  [/\bdesk\b|\w+Desk\b/, 'service'],
  [/\bteller\b|\w+Teller\b|\btellerOf\b/, 'writer'],
  [/\bcontract in use\b/i, 'entry reader'],
  [/\bheld against\b/i, 'compare with'],
  [/\bendpoint agents?\b/i, 'sensor'],
  [/\bdeviation\b/i, 'finding'],
];

/** Words to remove from names, each with its replacement and the number left. */
const FORMER_WORDS: readonly (readonly [words: readonly string[], say: string, most: number])[] = [
  [['fault', 'flaw', 'complaint', 'deviation'], 'finding', 102],
  [['parts', 'keeping', 'surroundings'], 'deps', 664],
  [['tell', 'tells', 'telling', 'told'], 'notify', 213],
  [['shown', 'saying'], 'row-to-wire mapping', 267],
  [['behind'], 'after', 19],
  [['tip'], 'head', 3],
  [['wish'], 'input', 1],
];

/** Counts names with one of these words. */
function countWords(code: string, words: readonly string[]): number {
  const capital = words.map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const named = new RegExp(`(?<![A-Za-z])(?:${words.join('|')})(?![a-z])|(?:${capital.join('|')})(?![a-z])`, 'g');
  return code.replace(TEXTS, '').match(named)?.length ?? 0;
}

/** Vague names of collections. */
const VAGUE = /\b(?:\w*(?:Utils?|Helpers?|Managers?)|utils?|helpers?|managers?)\b/g;
const TEXTS = /'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g;

/** Callees whose boolean parameters are not ours: APIs of the language, of Node and of packages. */
const FOREIGN =
  /^(z\.|x509\.|webcrypto\.|subtle\.|resolve$|parser\.|yargs|statement\.|signedData\.)|\.(default|exitProcess|getUint\d+|getBigUint64)$/;

/** Writing calls of `node:fs`, with the files of the verifier that make temporary files, or write what they decrypt. */
const WRITES = /\b(?:writeFile|appendFile|createWriteStream|mkdtemp|mkdirSync|ftruncateSync|rename|symlink|copyFile)\b/;

/** Names of texts for people. */
const SENTENCE = /\b(?:message|reason|purpose|sentence)\b/.source;
const PARSED_SENTENCE = new RegExp(
  `${SENTENCE}\\.(?:includes|match|startsWith|endsWith|split|search)\\(|\\.(?:exec|test)\\([\\w.]*${SENTENCE}\\)`,
);

/** @param isBroken receives the verdict on the size, and whether a comment explains it. */
function sized(kind: keyof Sizes, isBroken: (isLarge: boolean, isExplained: boolean) => boolean) {
  const [most, words] = kind === 'functions' ? [40, '40 lines'] : [10, 'ten members'];
  const isExplained = ({ above }: Sized) => above.startsWith(`// Over ${words}: `);
  return (file: SourceFile) =>
    file
      .sizes()
      [kind].filter((one) => isBroken(one.size > most, isExplained(one)))
      .map(({ name, size }) => `${name}, ${size}`);
}

const LONG_FUNCTION = `export function example() {\n${'  count();\n'.repeat(39)}}\n`;
const WIDE_OBJECT = `export interface Example {\n${[...'abcdefghijk'].map((name) => `  ${name}: string;\n`).join('')}}\n`;

export const STYLE_RULES: readonly Rule[] = [
  nowhere('only the files that end a program end the process', ALL, /\bprocess\.exit(Code)?\b/, {
    allowed: [
      ...['sensor', 'platform', 'exporter/cli'].map((program) => `${program}/main.ts`),
      'core/terminal/crash.ts',
      'exporter/cli/interruption.ts',
    ],
    example: ['platform/example.ts', 'process.exit(1);', 'platform/example.ts'],
  }),
  nowhere(
    'one function waits, and it is the one with a bound',
    /^(core|verifier|exporter)\//,
    /setTimeout.*from 'node:timers\/promises'/,
    {
      allowed: ['core/wait.ts'],
      example: [
        'exporter/client/example.ts',
        importing('node:timers/promises').replace('example', 'setTimeout'),
        'exporter/client/example.ts',
      ],
    },
  ),
  nowhere(
    'threads are started by core/threads alone, but for the Web Worker of a report',
    ALL,
    /\bnew Worker\((?!\{)/,
    {
      allowed: ['core/threads/thread.ts', 'exporter/browser/page/drop.ts'],
      example: ['platform/audit/example.ts', 'new Worker(program, {});', 'platform/audit/example.ts'],
    },
  ),
  nowhere('tables are made by their declaration alone', ALL, /\b(?:CREATE|ALTER) TABLE\b/, {
    allowed: ['exporter/queue/tables.ts', 'platform/database/table.ts'],
    example: ['platform/traps/example.ts', 'sql`ALTER TABLE traps ADD COLUMN x`;', 'platform/traps/example.ts'],
  }),
  nowhere(
    'operations, pages and the kit of the web have no SQL',
    /^platform\/(\w+\/(operations|pages|routes)\b|web\/|http\/)/,
    /\b(?:selectFrom|insertInto|updateTable|deleteFrom)\(|\bsql`/,
    {
      example: ['platform/traps/pages/example.ts', "tables.selectFrom('traps');", 'platform/traps/pages/example.ts'],
    },
  ),
  // `JSON.parse` silently keeps the last of two members with one name; `parseExactJson` reports the ambiguity.
  nowhere(
    'what strangers wrote is read with an eye for ambiguity',
    /^(verifier|library|exporter\/client)\//,
    /JSON\.parse/,
    {
      example: ['verifier/records/example.ts', 'JSON.parse(text);', 'verifier/records/example.ts'],
    },
  ),
  // Each of these files stores only objects that its own reader has read.
  nowhere('only these files store objects', /^(exporter|verifier)\//, /archive\.put\(/, {
    allowed: [
      // Bundles and bags, which are packed and read back.
      ...['stream', 'recover', 'supplement-store'].map((name) => `exporter/export/${name}.ts`),
      // Records made by `toReadableBytes` or read from the stored file, and bytes that are no record.
      'exporter/records/put-record.ts',
      // The signed statement, which follows from a record that was read.
      'exporter/export/attest.ts',
      // Reports; and run.json, whose parts were read and whose length was checked.
      'exporter/export/finalize.ts',
    ],
    example: ['exporter/cli/example.ts', 'await archive.put(key, bytes);', 'exporter/cli/example.ts'],
  }),
  nowhere('the verifier writes no file but temporary ones, and what it decrypts', /^(verifier|library)\//, WRITES, {
    allowed: [
      'library/archive.ts',
      'verifier/encryption/age.ts',
      ...['noted-entries', 'stream', 'supplements'].map((name) => `verifier/verify/${name}.ts`),
    ],
    example: ['verifier/records/example.ts', 'await writeFile(path, bytes);', 'verifier/records/example.ts'],
  }),
  nowhere('the verifier names no command, flag or setting of the exporter', /^(verifier|library)\//, COMMAND_WORDS, {
    example: ['verifier/claims/example.ts', "const next = 'Use --force.';", 'verifier/claims/example.ts'],
  }),
  // Allowed: files that read messages of libraries or of the system, which have no codes, or that show foreign text.
  nowhere('nothing reads a sentence to decide', ALL, PARSED_SENTENCE, {
    allowed: [
      'core/schema-words.ts',
      'core/yaml.ts',
      'exporter/archive/s3/failure.ts',
      'exporter/client/connection-error.ts',
      'platform/database/outage.ts',
      'platform/traps/decoys/postgres/scram.ts',
      'verifier/bundle/container.ts',
    ],
    example: ['exporter/cli/example.ts', "if (error.message.includes('not found')) return;", 'exporter/cli/example.ts'],
  }),
  nowhere('no literal is spread within a literal, where the compiler checks no names', ALL, /\.\.\.\{/, {
    example: ['core/example.ts', 'const all = { ...{ a, b } };', 'core/example.ts'],
  }),
  eachFile(
    'nothing is called a helper, a manager or utilities',
    ALL,
    ({ path, code }) => `${path} ${code.replace(TEXTS, '')}`.match(VAGUE) ?? [],
    {
      // git's credential helper, in a text.
      allowed: ['platform/traps/types/registries.ts: helper'],
      example: ['core/example.ts', 'export class KeyManager {}', 'core/example.ts: KeyManager'],
    },
  ),
  eachFile(
    'one word for each thing',
    ALL,
    ({ text }) => OTHER_WORDS.filter(([word]) => word.test(text)).map(([, say]) => say),
    {
      // A claim's reason, which run records have.
      allowed: ['verifier/claims/claim.ts: finding'],
      example: [
        'exporter/export/example.ts',
        '/** The journey of a stream. */',
        'exporter/export/example.ts: stream job',
      ],
    },
  ),
  ...FORMER_WORDS.map(([words, say, most]) =>
    atMost(`few names say ${words.join(', ')} where ${say} is meant`, most, ({ code }) => countWords(code, words), [
      'core/example.ts',
      `${words[0]}();\n`,
    ]),
  ),
  COMMENTS_NAME_THEIR_SUBJECT,
  eachFile(
    'a file over 250 lines says why',
    /^(?!.*\/tables\.ts$)/,
    ({ text }) => (text.split('\n').length > 251 && !text.startsWith('// Over 250 lines: ') ? [''] : []),
    { example: ['core/example.ts', LINE.repeat(251), 'core/example.ts'] },
  ),
  eachFile(
    'a function over 40 lines says why',
    ALL,
    sized('functions', (isLarge, isExplained) => isLarge && !isExplained),
    {
      example: ['core/example.ts', LONG_FUNCTION, 'core/example.ts: example, 41'],
    },
  ),
  eachFile(
    'a function that says why it is long is long',
    ALL,
    sized('functions', (isLarge, isExplained) => !isLarge && isExplained),
    {
      example: ['core/example.ts', '// Over 40 lines: once.\nfunction example() {}\n', 'core/example.ts: example, 1'],
    },
  ),
  eachFile(
    'an object of over ten members says why',
    ALL,
    sized('objects', (isLarge, isExplained) => isLarge && !isExplained),
    {
      example: ['core/example.ts', WIDE_OBJECT, 'core/example.ts: Example, 11'],
    },
  ),
  eachFile(
    'an object that says why it is wide is wide',
    ALL,
    sized('objects', (isLarge, isExplained) => !isLarge && isExplained),
    {
      example: ['core/example.ts', '// Over ten members: once.\ninterface Example {}\n', 'core/example.ts: Example, 0'],
    },
  ),
  eachFile('no module has a state of its own', ALL, (file) => mutableState(file.program()), {
    allowed: [
      // Font files, each read once.
      'core/typesetting/fonts.ts: loaded',
      // Public keys, because a parsed key verifies in half the time.
      'platform/agents/identity/keys.ts: PARSED',
      // Returned kernels, because each has megabytes of memory.
      'verifier/decode/wasm/instance.ts: idle',
      // Paths, split once instead of for every entry.
      'verifier/profile/path.ts: SPLIT',
    ],
    example: [
      'core/example.ts',
      'const seen = new Set();\nexport const see = (one) => seen.add(one);',
      'core/example.ts: seen',
    ],
  }),
  eachFile('a getter changes nothing', ALL, (file) => changingGetters(file.program()), {
    // A stored count, because `length` is a property of every list.
    allowed: ['core/rows/rows.ts: length'],
    example: [
      'core/example.ts',
      'class Example { get next() { return this.#at++; } #at = 0; }',
      'core/example.ts: next',
    ],
  }),
  eachFile(
    'a step of verification changes none of its arguments',
    /^verifier\/verify\//,
    (file) => outParameters(file.program()),
    {
      // An era's facts are the state of the object that has them.
      allowed: ['verifier/verify/history.ts: facts'],
      example: [
        'verifier/verify/example.ts',
        'export function check(findings) { findings.push(1); }',
        'verifier/verify/example.ts: findings',
      ],
    },
  ),
  eachFile(
    'a step of verification returns what it finds',
    /^verifier\/verify\//,
    (file) => callbacks(file.program(), file.text),
    {
      example: [
        'verifier/verify/example.ts',
        'export function check(differ: (what: string) => void) {}',
        'verifier/verify/example.ts: differ',
      ],
    },
  ),
  eachFile('rows are mapped by the names of what is shown', /^platform\//, (file) => denyListMappers(file.program()), {
    // Allowed: rows whose columns were selected by name, and entries and bodies that were already checked.
    allowed: [
      'platform/agents/overview.ts: row',
      'platform/accounts/own-sessions.ts: session',
      'platform/agents/kill/kill-switch.ts: delivery',
      'platform/audit/log.ts: entry',
      'platform/endpoints/baseline-difference.ts: row',
      'platform/jobs/delivery.ts: row',
    ],
    example: [
      'platform/traps/example.ts',
      'export function trapToWire({ secret, ...shown }) { return { ...shown }; }',
      'platform/traps/example.ts: shown',
    ],
  }),
  eachFile(
    'a file declares something, unless it is a door',
    /^(?!index(\.browser)?\.ts$|platform\/\w+\/api\.ts$)/,
    (file) => (isBarrel(file.program()) ? [''] : []),
    { example: ['core/example.ts', reexporting('./wait.ts'), 'core/example.ts'] },
  ),
  eachFile(
    'the door of a service declares nothing',
    /^platform\/\w+\/api\.ts$/,
    (file) => (isBarrel(file.program()) ? [] : ['']),
    { example: ['platform/traps/api.ts', 'export const example = 1;', 'platform/traps/api.ts'] },
  ),
  eachFile('a type guard is called isX', ALL, (file) => misnamedGuards(file.program()), {
    example: [
      'core/example.ts',
      'function text(value: unknown): value is string { return true; }',
      'core/example.ts: text',
    ],
  }),
  eachFile(
    'an argument is neither true nor false, which says nothing where it stands',
    ALL,
    (file) => booleanArguments(file.program(), file.text).filter((callee) => !FOREIGN.test(callee)),
    {
      allowed: [
        'platform/accounts/pages/sign-in.ts: factorFields',
        'platform/accounts/pages/sign-in.ts: passwordField',
        'platform/endpoints/pages/event-table.ts: hostColumn',
        // The value itself.
        'verifier/verify/stored.ts: checked',
      ],
      example: ['core/example.ts', 'show(record, true);', 'core/example.ts: show'],
    },
  ),
  {
    rule: 'names are unique in the exporter with what it is made of, and in a service with the kit',
    broken(files) {
      const services = servicesOf(files);
      const houses = [...services].map((service) => ({ path, room }: SourceFile) => {
        return /^(core|platform)\//.test(path) && (room === service || !services.has(room));
      });
      const ofExporter = ({ path }: SourceFile) => /^(core|verifier|exporter)\//.test(path);
      return [...new Set([ofExporter, ...houses].flatMap((isOf) => twiceNamed(files.filter(isOf))))];
    },
    example: [
      'platform/jobs/example.ts',
      'export function keyedRequest() {}',
      'keyedRequest: platform/idempotency/keyed-results.ts, platform/jobs/example.ts',
    ],
  },
];

/** Returns names that two files export. An overloaded function counts once; a stand-in does not count. */
function twiceNamed(files: readonly SourceFile[]): string[] {
  const exported = /^export (?:abstract )?(?:async )?(?:interface|type|class|enum|const|function\*?) (\w+)/gm;
  const places = new Map<string, Set<string>>();
  for (const { path, text } of files.filter((file) => !file.path.includes('/stand-ins/')))
    for (const [, name = ''] of text.matchAll(exported)) places.set(name, (places.get(name) ?? new Set()).add(path));
  return [...places]
    .filter(([, paths]) => paths.size > 1)
    .map(([name, paths]) => `${name}: ${[...paths].sort().join(', ')}`);
}
