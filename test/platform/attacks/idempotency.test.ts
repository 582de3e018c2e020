import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, call, entry, type Service, startService } from '../service.ts';
import { edit, readValue, refusalOf, sendRaw } from './attack.ts';

let service: Service;
let other: { key_id: string; api_key: string };
let number = 0;
beforeAll(async () => {
  service = await startService();
  other = await makeKey();
});
afterAll(() => service.close());

const makeKey = async () => (await service.call('POST', '//keys/', { name: 'k', preset: 'recorder' })).body;
const count = () => Number(readValue(service, 'SELECT count(*) FROM entries WHERE stream_no != 1'));

let key: string;
let one: ReturnType<typeof entry>;
beforeEach(async () => {
  number++;
  key = `invoice-${number}`;
  one = entry('invoices', number, { metadata: { number, text: 'é' } });
  const { status } = await append(one);
  expect(status).toBe(201);
});

const append = (body: unknown, header: string | null = key, apiKey = service.apiKey): Promise<Answer> =>
  call(service.url, apiKey, 'POST', '/entries/', body, header === null ? {} : { 'idempotency-key': header });
const batch = (...entries: object[]) => service.call('POST', '/entries/batch', { entries }, { 'idempotency-key': key });

const [AGAIN, NEW, CONFLICT, INVALID] = ['200', '201', '422 idempotency_conflict', '422 invalid_request'];

type Row = readonly [name: string, act: () => Promise<Answer>, outcome: string];

const REPEATED: readonly Row[] = [
  ['as it was', () => append(one), AGAIN],
  ['with its members in another order', () => append(Object.fromEntries(Object.entries(one).reverse())), AGAIN],
  ['with blanks and escapes', () => append(JSON.stringify(one, null, 2).replace('invoices', '\\u0069nvoices')), AGAIN],
  ['with blanks around its key', () => append(one, `  ${key} `), AGAIN],
  ['with its key in the body', () => append({ ...one, idempotency_key: key }, null), AGAIN],
  ['with its key in header and body', () => append({ ...one, idempotency_key: key }), AGAIN],
  ['with another actor', () => append({ ...one, actor: 'root' }), CONFLICT],
  ['with another actor by a blank', () => append({ ...one, actor: `${one.actor} ` }), CONFLICT],
  ['to another stream', () => append({ ...one, stream_id: 'others' }), CONFLICT],
  ['to its stream in capitals', () => append({ ...one, stream_id: 'Invoices' }), '409 stream_resembles'],
  ['with a time', () => append({ ...one, occurred_at: '2026-01-01T00:00:00Z' }), CONFLICT],
  ['without metadata', () => append({ ...one, metadata: undefined }), CONFLICT],
  ['with empty metadata', () => append({ ...one, metadata: {} }), CONFLICT],
  ['with another form of a letter', () => append({ ...one, metadata: { number, text: 'e\u0301' } }), CONFLICT],
  ['with a number as text', () => append({ ...one, metadata: { number: `${number}`, text: 'é' } }), CONFLICT],
  [
    'with a member of its prototype',
    () => append(JSON.stringify(one).replace('"metadata":{', '"metadata":{"__proto__":{},')),
    CONFLICT,
  ],
];

describe('a request that is sent again adds no entry', () => {
  test.each(REPEATED)('%s', async (_name, act, outcome) => {
    const before = count();
    expect(refusalOf(await act())).toBe(outcome);
    expect(count()).toBe(before);
  });
});

const REFUSED: readonly Row[] = [
  ['empty', () => append(one, ''), INVALID],
  ['empty in the body', () => append({ ...one, idempotency_key: '' }, null), INVALID],
  ['too long', () => append(one, 'k'.repeat(1025)), INVALID],
  ['far too long', () => append(one, 'k'.repeat(60_000)), INVALID],
  ['with U+0000', () => append({ ...one, idempotency_key: 'a\0b' }, null), INVALID],
  [
    'of half a character',
    () => append(JSON.stringify({ ...one, idempotency_key: 'K' }).replace('"K"', '"\\ud800"'), null),
    '422 ambiguous_json',
  ],
  ['that is a number', () => append({ ...one, idempotency_key: 1 }, null), INVALID],
  ['that is null', () => append({ ...one, idempotency_key: null }, null), INVALID],
  ['that is a list', () => append({ ...one, idempotency_key: [key] }, null), INVALID],
  ['that is an object', () => append({ ...one, idempotency_key: { key } }, null), INVALID],
  ['beside another', () => append({ ...one, idempotency_key: `${key}x` }), INVALID],
  ['with a line break', () => append({ ...one, idempotency_key: `${key}\r\nX: y` }), INVALID],
];

describe('an idempotency key is refused', () => {
  test.each(REFUSED)('%s', async (_name, act, outcome) => {
    const before = count();
    expect(refusalOf(await act())).toBe(outcome);
    expect(count()).toBe(before);
  });
});

const SEPARATE: readonly Row[] = [
  ['of another API key', () => append(one, key, other.api_key), NEW],
  [
    'of another API key, written as its own',
    () => append(one, JSON.stringify(['key', keyIdOf(service.apiKey), key]), other.api_key),
    NEW,
  ],
  ['of a batch', () => batch(one), NEW],
  ['of a batch, within', () => batch({ ...one, idempotency_key: `${key}b` }), NEW],
  ['in capitals', () => append(one, key.toUpperCase()), NEW],
  ['with a blank inside', () => append(one, key.replace('-', ' -')), NEW],
  ['sent twice in two headers', () => sendTwice(), NEW],
  ['named like a member of all objects', () => append(one, `__proto__${key}`), NEW],
  ['with a wildcard', () => append(one, `${key.slice(0, -1)}%`), NEW],
  ['with a quotation mark', () => append(one, `${key}' OR '1'='1`), NEW],
];

const keyIdOf = (apiKey: string) => apiKey.split('_')[1];

async function sendTwice(): Promise<Answer> {
  const body = JSON.stringify(one);
  const head = ['POST /audit/entries/ HTTP/1.1', 'Host: x', `Authorization: Bearer ${service.apiKey}`];
  const keys = [`Idempotency-Key: ${key}`, `Idempotency-Key: ${key}`];
  const rest = ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`];
  return (await sendRaw(service.origin, `${[...head, ...keys, ...rest].join('\r\n')}\r\n\r\n${body}`)) as Answer;
}

describe('an idempotency key is another one', () => {
  test.each(SEPARATE)('%s', async (_name, act, outcome) => {
    const before = count();
    expect(refusalOf(await act())).toBe(outcome);
    expect(count()).toBe(before + 1);
  });
});

describe('of requests with one idempotency key at a time', () => {
  test('one is recorded, whatever their bodies', async () => {
    const before = count();
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => append({ ...one, actor: `actor ${at % 2}` }, `${key} race`)),
    );
    const codes = answers.map(refusalOf);
    expect(codes.filter((code) => code === NEW)).toHaveLength(1);
    expect(codes.filter((code) => code === AGAIN)).toHaveLength(9);
    expect(codes.filter((code) => code === CONFLICT)).toHaveLength(10);
    expect(count()).toBe(before + 1);
  });

  test('one is recorded of two batches that share an entry', async () => {
    const before = count();
    const shared = { ...one, idempotency_key: `${key} shared` };
    const answers = await Promise.all(
      ['a', 'b'].map((actor) => service.call('POST', '/entries/batch', { entries: [shared, { ...one, actor }] })),
    );
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(count()).toBe(before + 3);
  });

  test('one makes an API key', async () => {
    const make = () => service.call('POST', '//keys/', { name: key, preset: 'auditor' }, { 'idempotency-key': key });
    const codes = (await Promise.all([make(), make(), make()])).map(refusalOf).sort();
    expect(codes).toEqual([NEW, '409 key_shown_before', '409 key_shown_before']);
    expect(readValue(service, `SELECT count(*) FROM api_keys WHERE name = '${key}'`)).toBe('1');
  });
});

describe('a result that was changed in the database', () => {
  const LAST = '(SELECT max(rowid) FROM keyed_results)';
  test.each([
    ['names an entry of another stream', `'["platform/administration",1]'`],
    ['names another entry', `'["invoices",1]'`],
    ['names no entry', `'["invoices",1000000]'`],
    ['names a stream that there is not', `'["nothing",1]'`],
  ])('keeps nothing from being recorded unnoticed if it %s', async (_name, result) => {
    edit(service, `UPDATE keyed_results SET result = ${result} WHERE rowid = ${LAST}`);
    expect(refusalOf(await append(one))).toBe('409 stream_damaged');
    const before = count();
    expect(refusalOf(await append(one, `${key} again`))).toBe(NEW);
    expect(count()).toBe(before + 1);
  });

  test('keeps no batch from being recorded unnoticed', async () => {
    expect((await batch(one, one)).status).toBe(201);
    edit(service, `UPDATE keyed_results SET result = '[["invoices",${number}]]' WHERE rowid = ${LAST}`);
    expect(refusalOf(await batch(one, one))).toBe('409 stream_damaged');
  });
});

test('a successor repeats the requests of the keys before, and no key after its end', async () => {
  const first = await makeKey();
  expect((await append(one, key, first.api_key)).status).toBe(201);
  const next = (await service.call('POST', `//keys/${first.key_id}/rotate`, { overlap_seconds: 0 })).body;
  const last = (await service.call('POST', `//keys/${next.key_id}/rotate`)).body;
  const before = count();
  expect(refusalOf(await append(one, key, first.api_key))).toBe('401 key_expired');
  expect(refusalOf(await append(one, key, next.api_key))).toBe(AGAIN);
  expect(refusalOf(await append(one, key, last.api_key))).toBe(AGAIN);
  await service.call('POST', `//keys/${last.key_id}/revoke`);
  expect(refusalOf(await append(one, key, last.api_key))).toBe('401 key_revoked');
  expect(count()).toBe(before);
});
