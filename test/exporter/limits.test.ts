import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { grouped } from '../../src/core/plurals.ts';
import { DEFAULT_TRANSPORT } from '../../src/exporter/client/options.ts';

const root = resolve(import.meta.dirname, '../..');
const rows = readFileSync(join(root, 'templates/help/operations.md'), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split(' | ').map((cell) => cell.replace(/^\| | \|$/g, '').trim()));

/** Returns the number with this name in a source file. */
function constant(file: string, name: string): number {
  const source = readFileSync(join(root, 'src', file), 'utf8');
  const [, text = ''] = new RegExp(`const ${name} = ([^;]+);`).exec(source) ?? [];
  const [factors = '', exponent = '0'] = text.split('2 **').map((part) => part.trim());
  const factor =
    factors === ''
      ? 1
      : factors.split('*').reduce((product, part) => product * Number(part.replaceAll('_', '') || 1), 1);
  return factor * 2 ** Number(exponent);
}

const seconds = (milliseconds: number) => `${milliseconds / 1000} s`;
const minutes = (milliseconds: number) => `${milliseconds / 60_000} min`;
const { timeouts, waits, maxBytes, maxPages, bytesPerSecond, attempts } = DEFAULT_TRANSPORT;
const mebibytes = (bytes: number) => `${bytes / 2 ** 20} MiB`;

test.each<[what: string, limit: string]>([
  ['connecting', seconds(timeouts.connect)],
  ['waiting for the response headers', seconds(timeouts.headers)],
  ['silence within a response', seconds(timeouts.idle)],
  ['minimum rate of a response, over five times that silence', `${grouped(bytesPerSecond)} bytes/s`],
  ['consecutive attempts of a call without progress', String(attempts)],
  [
    'attempts of a call in total, plus one for each MiB that arrived',
    String(constant('exporter/client/retry.ts', 'MAX_ATTEMPTS')),
  ],
  ['all attempts of a call for JSON, without waits', minutes(timeouts.request)],
  ['all attempts of a download, without waits', `${timeouts.download / 3_600_000} h`],
  ['one wait that the service requests (`Retry-After`)', minutes(waits.longest)],
  ['all waits of a call', minutes(waits.inAll)],
  ['a JSON response', mebibytes(maxBytes.json)],
  [
    'a JSON response that is not a page of a list',
    mebibytes(constant('exporter/client/transport.ts', 'MAX_DOCUMENT_BYTES')),
  ],
  ['values of a JSON response', grouped(constant('exporter/client/page-reader.ts', 'MAX_VALUES'))],
  ['depth of JSON', String(constant('core/json/canonical.ts', 'MAX_DEPTH'))],
  ['a download', `${maxBytes.download / 2 ** 30} GiB`],
  ['pages of a list', grouped(maxPages)],
  ['pages without a record, in a row', String(constant('exporter/client/pages.ts', 'MAX_EMPTY_PAGES'))],
  ['pages without a record, in one list', grouped(constant('exporter/client/pages.ts', 'MAX_EMPTY_IN_ALL'))],
  ['redirects of a request', String(constant('exporter/client/send.ts', 'MAX_REDIRECTS'))],
  ['an item of the list of streams', mebibytes(constant('exporter/client/audit-answers.ts', 'MAX_RECORD_BYTES'))],
  ['streams of the list', grouped(constant('exporter/client/audit.ts', 'MAX_STREAMS'))],
  ['pages of a PDF that are read', String(constant('verifier/pdf-text/pdf.ts', 'MAX_PAGES'))],
  ['reading a PDF', seconds(constant('verifier/pdf-text/reader.ts', 'WITHIN_MS'))],
  ['a response of a time-stamping authority', seconds(constant('exporter/client/authority.ts', 'TIMEOUT_MS'))],
  [
    'consecutive streams that fail alike because the service is gone or refuses',
    String(constant('exporter/export/service-reach.ts', 'GIVEN_UP_AFTER')),
  ],
])('the limit of %s is %s in the help', (what, limit) => {
  expect(rows.find(([name]) => name === what)?.[1]).toBe(limit);
});

test('a worker is taken for dead when the help says so', () => {
  const help = readFileSync(join(root, 'templates/help/distributed.md'), 'utf8');
  expect(help).toContain(
    `after ${constant('exporter/queue/jobs.ts', 'HEARTBEAT_SECONDS')} seconds without a sign of life`,
  );
  expect(constant('exporter/queue/jobs.ts', 'TRIES')).toBe(10);
  expect(help).toContain('given to ten workers in turn');
});
