import { describe, expect, test } from 'vitest';
import { NO_HINTS } from '../../../src/probe/openapi.ts';
import {
  bodyNamesOf,
  findReadiness,
  generateOne,
  missingMembers,
  NOT_YET,
} from '../../../src/probe/packages/generate.ts';
import { answerOf, NOT_FOUND, serviceOf } from '../sample-service.ts';

const NAMES = { stream: 'stream', from: 'from', to: 'to' };
const always = async () => true;

function described(...names: string[]) {
  return names.map((name) => ({ name, type: 'string', format: '', required: false, maximum: null, values: [] }));
}

test.each([
  [['title', 'stream_id', 'start_date', 'end_date'], { stream: 'stream_id', from: 'start_date', to: 'end_date' }],
  [['since', 'until', 'streamId'], { stream: 'streamId', from: 'since', to: 'until' }],
  [['format', 'title'], { stream: null, from: null, to: null }],
])('the members of a body %j', (names, expected) => {
  expect(bodyNamesOf(described(...names))).toEqual(expected);
});

test.each([
  [{ detail: [{ loc: ['body', 'stream_id'], msg: 'Field required', type: 'missing' }] }, ['stream_id']],
  [{ stream: ['This field is required.'], date_from: ['Enter a valid date.'] }, ['stream']],
  [{ detail: 'No.' }, []],
  ['no', []],
])('what a refusal says is missing: %j', (refusal, expected) => {
  expect(missingMembers(refusal)).toEqual(expected);
});

test('a refusal that names what is missing is answered once more, and never again', async () => {
  const { ask, questions } = serviceOf((_path, _query, { body }) =>
    JSON.stringify(body) === '{"stream_key":"s"}'
      ? answerOf({ id: 'p1' })
      : answerOf({ detail: [{ loc: ['body', 'stream_key'] }] }, { status: 422 }),
  );
  const { names } = await generateOne(ask, NAMES, 's', always);
  expect(names.stream).toBe('stream_key');
  const stubborn = serviceOf(() => answerOf({ detail: [{ loc: ['body', 'stream_key'] }] }, { status: 422 }));
  expect((await generateOne(stubborn.ask, NAMES, 's', always)).package).toBeNull();
  expect(stubborn.questions.map(({ method }) => method)).toEqual(['POST', 'POST']);
  expect(questions.filter(({ method }) => method === 'POST')).toHaveLength(2);
});

describe('the id of a package is the one under which it can be downloaded', () => {
  const answers = (generated: object, downloads: Record<string, number[]>) =>
    serviceOf((path, _query, { method }) => {
      if (method === 'POST') return answerOf(generated, { status: 202 });
      const status = downloads[path.split('/')[2] ?? '']?.shift();
      return status === undefined ? NOT_FOUND : answerOf(status === 200 ? { entries: [] } : {}, { status });
    });

  test('not the one that is called so', async () => {
    const { ask } = answers({ id: 'job-1', export: { uuid: 'p-2' } }, { 'p-2': [409, 425, 200] });
    const { package: made } = await generateOne(ask, NAMES, 's', always);
    expect(made).toMatchObject({ id: 'p-2', idField: 'export.uuid', atOnce: false });
  });

  test('none, when waiting was too long', async () => {
    const { ask } = answers({ id: 'p' }, { p: [409, 409, 409, 200] });
    let pauses = 0;
    expect((await generateOne(ask, NAMES, 's', async () => ++pauses < 2)).package).toBeNull();
  });
});

describe('ready', () => {
  const made = { id: 'p', idField: 'id', text: '{}', atOnce: true };
  test.each([
    ['at once', { status: 201 }, true, NOT_FOUND, { when: 'at-once' }],
    [
      'later, because generate said 202',
      { status: 202 },
      true,
      NOT_FOUND,
      { when: 'download-answers', not_yet: NOT_YET },
    ],
    ['when the download answers', { status: 200 }, false, NOT_FOUND, { when: 'download-answers', not_yet: NOT_YET }],
    [
      'when the status says',
      { status: 201 },
      false,
      answerOf({ id: 'p', state: 'DONE' }),
      { when: 'status-says', path: '/evidence/{package_id}', field: 'state', ready: ['DONE'], pending: ['RUNNING'] },
    ],
  ])('%s', async (_, more, atOnce, own, expected) => {
    const { ask } = serviceOf(() => own);
    const generated = answerOf({ id: 'p', state: 'RUNNING' }, more);
    expect(await findReadiness(ask, generated, { ...made, atOnce }, NO_HINTS)).toEqual(expected);
  });
});
