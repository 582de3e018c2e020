import { existsSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { topicsIn } from '../src/core/terminal/topics.ts';
import { loadConfig } from '../src/exporter/cli/config/config.ts';
import { configSchema, parseConfigFile } from '../src/exporter/cli/config/config-file.ts';
import { readTopics } from '../src/exporter/cli/output/topics.ts';
import { platformFileSchema, readPlatformConfig } from '../src/platform/config.ts';
import { awsFileSchema, trailFileSchema } from '../src/platform/traps/aws/settings.ts';
import { fencedIn, nameOf, readDocument, readDocuments } from './support/documents.ts';

const root = resolve(import.meta.dirname, '..');
const documents = readDocuments();
const textOf = (name: string) => documents.find(({ path }) => nameOf(path) === name)?.text ?? '';

test('README.md is short, and names every topic with its title', () => {
  const readme = textOf('README');
  expect(readme.split('\n').length).toBeLessThanOrEqual(151);
  const named = [...readme.matchAll(/^- \[([a-z0-9-]+)\]\(templates\/help\/([a-z0-9-]+)\.md\): (.*)$/gm)];
  const topics = readTopics().filter(({ name }) => name !== 'exit-codes');
  expect(named.map(([, name, file, title]) => [name, file, title])).toEqual(
    topics.map(({ name, title }) => [name, name, title]),
  );
});

test.each([...documents, readDocument('src/README.md'), readDocument('src/platform/README.md')])(
  'the links of $path lead somewhere',
  ({ path, text }) => {
    const prose = text.replaceAll(/^```.*?^```$/gms, '');
    const targets = [...prose.matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => target);
    for (const target of targets.filter((one) => !/^https:/.test(one))) {
      const [file = '', anchor] = target.split('#');
      const linked = file === '' ? join(root, path) : resolve(root, dirname(path), file);
      expect(existsSync(linked), target).toBe(true);
      if (anchor !== undefined) expect(anchorsIn(readFileSync(linked, 'utf8')), target).toContain(anchor);
    }
  },
);

/** Returns the anchors that GitHub creates for headings. */
function anchorsIn(text: string): string[] {
  const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading.toLowerCase());
  return headings.map((heading) => heading.replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-'));
}

test('the README of the platform names every topic of its help', () => {
  const { text } = readDocument('src/platform/README.md');
  const named = [...text.matchAll(/\[([a-z-]+)\]\(\.\.\/\.\.\/templates\/help\/platform\/\1\.md\)/g)];
  const topics = topicsIn('templates/help/platform').map(({ name }) => name);
  expect(named.map(([, name]) => name).sort()).toEqual(topics);
});

test('no topic is told of that is not there, and no command', () => {
  const names = readTopics().map(({ name }) => name);
  const commands = readdirSync(join(root, 'src/exporter/cli/commands')).map((file) =>
    file.replace(/(-flags)?\.ts$/, ''),
  );
  const said = documents.flatMap(({ text }) => [...text.matchAll(/evidence help ([a-z0-9-]+)/g)]);
  for (const [words, name = ''] of said) expect([...names, ...commands], words).toContain(name);
  const ofPlatform = topicsIn('templates/help/platform').map(({ name }) => name);
  const saidOfIt = documents.flatMap(({ text }) => [...text.matchAll(/evidence-platform help ([a-z0-9-]+)/g)]);
  for (const [words, name = ''] of saidOfIt) expect(ofPlatform, words).toContain(name);
});

test('what is fenced is for the shell, YAML, a crontab, a program, or is shown only', () => {
  for (const { path, language, text } of documents.flatMap(fencedIn)) {
    expect(['sh', 'yaml', 'crontab', ...(nameOf(path) === 'library' ? ['js'] : []), ''], path).toContain(language);
    if (language === '') expect(text, path).not.toMatch(/^(evidence|npm|aws|kubectl|openssl|jq|curl) \S/m);
  }
});

const yamls = documents.flatMap(fencedIn).filter(({ language }) => language === 'yaml');

test.each(yamls)('YAML $index of $path is a configuration', ({ path, text }) => {
  if (nameOf(path).startsWith('platform/')) {
    expect(text).toMatch(/^# platform\.yaml\n/);
    readPlatform(text.replaceAll(/^( *\w+_file): .*$/gm, '$1: secret'));
  } else {
    expect(text).toMatch(/^# evidence\.yaml\n/);
    expect(Object.keys(parseConfigFile(text, path))).not.toEqual([]);
  }
});

function readPlatform(text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'documents-'));
  writeFileSync(join(folder, 'platform.yaml'), text);
  writeFileSync(join(folder, 'secret'), 'a password');
  return readPlatformConfig({ config: 'platform.yaml' }, {}, folder);
}

describe('the settings of the platform', () => {
  const rows = [...textOf('platform/run').matchAll(/^\| `([a-z_.]+)` \| (.*?) \| .* \|$/gm)];
  const stated = new Map(rows.map(([, key = '', value = '']) => [key, value.replaceAll('`', '')]));

  test('are all told of, and no other', () => {
    expect([...stated.keys()].sort()).toEqual(keysOf(platformFileSchema).sort());
  });

  test('have the defaults that are told', () => {
    const config: Record<string, unknown> = { ...readPlatform('data: .'), data: null };
    const { requestsPerMinute, refusalsPerMinute } = readPlatform('data: .').rateLimits;
    const { trustedAfterDays, verifiedAfterDays, idleDays } = readPlatform('data: .').trustTimes;
    const limits: Record<string, unknown> = {
      mail_folder: 'DATA/mail',
      'aws.region': awsFileSchema.shape.region.parse(undefined),
      'cloudtrail.region': trailFileSchema.shape.region.parse(undefined),
      'cloudtrail.every_minutes': trailFileSchema.shape.every_minutes.parse(undefined),
      'agents.trusted_after_days': trustedAfterDays,
      'agents.verified_after_days': verifiedAfterDays,
      'agents.idle_days': idleDays,
      'rate_limits.requests_per_minute': requestsPerMinute,
      'rate_limits.refusals_per_minute': refusalsPerMinute,
    };
    const stands = (key: string) =>
      limits[key] ?? config[key.replaceAll(/_(\w)/g, (_, letter) => letter.toUpperCase())];
    const isNone = (value: unknown) =>
      value === null || value === undefined || (Array.isArray(value) && value.length === 0);
    for (const [key, value] of stated)
      expect([key, value]).toEqual([key, isNone(stands(key)) ? 'none' : String(stands(key))]);
  });
});

describe('the topic configuration', () => {
  const rows = [...textOf('configuration').matchAll(/^\| `([a-z_.]+)` \| (.*?) \| .* \|$/gm)];
  const stated = new Map(rows.map(([, key = '', value = '']) => [key, value.replaceAll('`', '')]));

  test('has every key of evidence.yaml, and no other', () => {
    expect([...stated.keys()].sort()).toEqual(keysOf(configSchema).sort());
  });

  test('states the defaults that hold', async () => {
    const config = await loadConfig({}, {}, mkdtempSync(join(tmpdir(), 'documents-')));
    const { source, verify, archive, report } = config;
    const { timeouts, bytesPerSecond, waits, maxBytes, maxPages } = source.bounds;
    const { store } = archive;
    const values: Record<string, unknown> = {
      'source.rate.concurrency': source.concurrency,
      'source.timeouts.connect_seconds': timeouts.connect / 1000,
      'source.timeouts.headers_seconds': timeouts.headers / 1000,
      'source.timeouts.idle_seconds': timeouts.idle / 1000,
      'source.timeouts.request_seconds': timeouts.request / 1000,
      'source.timeouts.download_seconds': timeouts.download / 1000,
      'source.timeouts.retry_after_seconds': waits.longest / 1000,
      'source.rate.least_bytes_per_second': bytesPerSecond,
      'source.limits.json_bytes': maxBytes.json,
      'source.limits.package_bytes': maxBytes.download,
      'source.limits.pages': maxPages,
      'verify.require': verify.required.join(', '),
      'verify.completeness': verify.completeness,
      'archive.url': archive.url,
      'archive.legal_hold': store.legalHold,
      'report.oscal': report.oscal,
    };
    for (const [key, value] of Object.entries(values)) expect([key, stated.get(key)]).toEqual([key, String(value)]);
    // The topic names every default that is set.
    const unset = [
      source.auditUrl,
      source.apiKey,
      source.requestsPerSecond,
      ...Object.values(source.otherUrls),
      verify.timestampRootsFile,
      config.sign.keyFile,
    ];
    expect(
      [...unset, ...Object.values(source.tlsFiles), store.retention, store.kmsKeyId].map((one) => one ?? null),
    ).toEqual(Array.from({ length: 13 }, () => null));
    expect([verify.acceptUnhashed, archive.encryptTo, verify.publicKeyFiles, report.controls]).toEqual([
      [],
      [],
      [],
      [],
    ]);
  });
});

/** Returns the paths of all members, down to values without known members. */
function keysOf(schema: z.ZodType, path = ''): string[] {
  const inner = schema instanceof z.ZodOptional ? (schema.unwrap() as z.ZodType) : schema;
  if (!(inner instanceof z.ZodObject)) return [path];
  return Object.entries(inner.shape).flatMap(([name, member]) =>
    keysOf(member as z.ZodType, path === '' ? name : `${path}.${name}`),
  );
}

describe('the topic environment', () => {
  const stated = new Set([...textOf('environment').matchAll(/`([A-Z][A-Z_]+|npm_\w+)`/g)].map(([, name = '']) => name));
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.(ts|cjs)$/.test(path) && !path.includes('exporter/browser'))
    // Planted files name variables of other programs.
    .filter((path) => !path.includes('traps/types'))
    .map((path) => readFileSync(join(root, 'src', path), 'utf8'))
    .join('\n');
  /** Variables that dependencies read, each with a sign of its reader. */
  const ofOthers: Record<string, RegExp> = {
    TMPDIR: /\btmpdir\(\)/,
    NO_COLOR: /\bstyleText\(/,
    FORCE_COLOR: /\bstyleText\(/,
    HTTP_PROXY: /\bEnvHttpProxyAgent\b/,
    HTTPS_PROXY: /\bEnvHttpProxyAgent\b/,
    AWS_ACCESS_KEY_ID: /@aws-sdk\/client-s3/,
    AWS_REGION: /@aws-sdk\/client-s3/,
    NODE_EXTRA_CA_CERTS: /\bfrom 'undici'/,
  };
  /** Variables that the C library reads; the files that `init` writes set them. */
  const deployed = readdirSync(join(root, 'templates/deploy'))
    .map((name) => readFileSync(join(root, 'templates/deploy', name), 'utf8'))
    .join('\n');

  test('has every variable that the program reads', () => {
    const indexed = [...sources.matchAll(/\b(?:process\.env|environment)(?:\.|\[')([A-Za-z_]+)/g)].map(
      ([, name]) => name,
    );
    const taken = [...sources.matchAll(/\{([^{}]*)\} = (?:process\.env|environment);/g)].flatMap(([, names = '']) =>
      [...names.matchAll(/(\w+)(?=:|,| *$)/g)].map(([, name]) => name),
    );
    const named = [...sources.matchAll(/\b(EVIDENCE_[A-Z_]+|AWS_[A-Z_]+|HTTPS?_PROXY|NO_PROXY)\b/g)].map(
      ([, name]) => name,
    );
    const read = [...indexed, ...taken, ...named].filter((name) => /^([A-Z_]+|npm_\w+)$/.test(name ?? ''));
    expect(read.length).toBeGreaterThan(20);
    expect([...new Set(read)].filter((name) => !stated.has(name ?? ''))).toEqual([]);
  });

  test('has no other', () => {
    const unread = [...stated].filter(
      (name) => !sources.includes(name) && !deployed.includes(`${name}=`) && !(ofOthers[name]?.test(sources) === true),
    );
    expect(unread).toEqual([]);
  });
});
