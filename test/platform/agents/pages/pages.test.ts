import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Service, startService } from '../../service.ts';
import { shown } from '../../web/shown.ts';
import { type Visitor, visitorsOf } from '../../web/visitor.ts';
import { AGENTS, answered, type HttpAgent, onboarded, register } from '../http-agent.ts';

const PAGE = '/app/agents';
/** Text that closes elements, reverses the text around it, and controls terminals. */
const HOSTILE = `</a><script>alert("1")</script>'&\u202e\u001b[2J`;
const HOSTILE_SHOWN = `&lt;/a&gt;&lt;script&gt;alert("1")&lt;/script&gt;'&amp;‹U+202E›‹U+001B›[2J`;

const TYPED_AGAIN = `&lt;/a&gt;&lt;script&gt;alert(`;

let service: Service;
let owner: Visitor;
let operator: Visitor;
let auditor: Visitor;
beforeAll(async () => {
  service = await startService();
  ({ owner, operator, auditor } = await visitorsOf(service, ['owner', 'operator', 'auditor']));
});
afterAll(() => service.close());

const prove = (visitor: Visitor) => visitor.submit('/app/prove', '/app/prove', { password: 'a long walk by the sea' });
const of = ({ id }: Pick<HttpAgent, 'id'>, below = '') => `${PAGE}/of/${id}${below}`;
const see = async (path: string, visitor = owner) => shown((await visitor.get(path)).text);
const act = (path: string, typed: Record<string, string> = {}, visitor = operator) => visitor.submit(path, path, typed);
const tile = async () => (await see('/app/')).replace(/.*Agent identity (.*) Recent events.*/s, '$1');

describe('a platform without agents', () => {
  test.each([
    ['', 'No agents are registered yet.', '/agents/api/v1/agents'],
    ['/subscribers', 'No subscribers yet.', '/agents/api/v1/subscribers'],
  ])('says at %j what would be there, and has the command to copy', async (path, words, api) => {
    const { text } = await owner.get(PAGE + path);
    expect(shown(text)).toContain(words);
    expect(text).toContain(service.origin + api);
  });

  test('says on the front page what to do', async () => {
    expect(await tile()).toBe(
      '– No agents are registered yet What no agents Since no known problems Last reported action never Register one',
    );
  });
});

describe('registration', () => {
  const input = {
    once: 'one',
    name: HOSTILE,
    agent_type: 'supervised',
    model: HOSTILE,
    version: '1.0.0',
    allowed_tools: `${HOSTILE}\n\n read_file `,
    allowed_apis: '',
    prompt_sha256: '',
    parent_agent_id: '',
  };

  test('makes an agent of which nothing is hidden, and says what it may do', async () => {
    const made = await act(`${PAGE}/register`, input);
    const said = shown(made.text);
    expect(said).toContain('The agent is registered.');
    expect(said).toContain(`2 tools ${HOSTILE_SHOWN} read_file 0 APIs none, so using any API is a violation`);
    expect(said).toContain('No identity yet. Onboarding issues keys, two certificates, a vault and a passport.');
    expect(await see(PAGE)).toContain(`${HOSTILE_SHOWN} – not onboarded`);
    for (const page of [made.text, (await owner.get(PAGE)).text])
      for (const hidden of ['<script>alert', '\u001b', '\u202e']) expect(page).not.toContain(hidden);
    expect((await act(`${PAGE}/register`, input)).path).toBe(made.path);
    expect(await tile()).toMatch(/^– No agents are active What 0 active agents/);
  });

  test.each([
    [{ name: ' ' }, 'name', 'Enter a name.'],
    [{ model: '' }, 'model', 'Enter a model.'],
    [{ version: 'new' }, 'version', 'Is not numbers separated by dots, such as 1.0.0.'],
    [{ agent_type: 'rogue' }, 'agent_type', ''],
    [{ allowed_tools: 'x'.repeat(201) }, 'allowed_tools', ''],
    [{ allowed_apis: 'https://api.example.com/' }, 'allowed_apis', 'Is not a host name.'],
    [{ prompt_sha256: 'abc' }, 'prompt_sha256', 'Is not SHA-256 in lower-case hex.'],
  ])('that is wrong comes again with what is wrong: %j', async (wrong, field, words) => {
    const before = (await service.call('GET', AGENTS)).text;
    const { status, text } = await act(`${PAGE}/register`, { ...input, name: 'kept', once: 'two', ...wrong });
    expect([status, text.includes(`id="${field}-error"`)]).toEqual([422, true]);
    expect(shown(text)).toContain(words);
    expect([text.includes(TYPED_AGAIN), text.includes('<script>alert')]).toEqual([true, false]);
    expect((await service.call('GET', AGENTS)).text).toBe(before);
  });
});

describe('onboarding', () => {
  test('asks again who it is, and shows the private keys and the API key once, with how to keep them', async () => {
    const id = await register(service, { name: 'To be onboarded' });
    const form = of({ id }, '/onboard');
    for (const path of [form, of({ id }, '/secrets/x/remove'), of({ id }, '/decoys/x/remove')])
      expect((await operator.get(path)).path).toBe('/app/prove');
    await prove(operator);
    const made = await act(form, { once: 'o1' });
    const secrets = [...made.text.matchAll(/<div class="secret">.*?<pre id="(\w+)"[^>]*>([^<]*)</gs)];
    expect(secrets.map(([, name]) => name).toSorted()).toEqual(['api_key', 'ecdsa_p256', 'ed25519', 'ml_dsa_65']);
    const [apiKey = '', ...keys] = secrets
      .map(([, , text]) => text ?? '')
      .toSorted((one) => (one.startsWith('sk_') ? -1 : 1));
    for (const key of keys) expect(key).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
    expect(shown(made.text)).toContain('umask 077 &amp;&amp; mkdir -p ~/.evidence-agent');
    for (const file of ['api-key', 'ecdsa_p256.pem', 'ed25519.pem', 'ml_dsa_65.pem'])
      expect(shown(made.text)).toContain(`cat &gt; ${file} `);
    const headers = { authorization: `Bearer ${apiKey}` };
    const body = { action_type: 'tool_call', action_description: 'began' };
    answered(await service.call('POST', `${AGENTS}/${id}/actions`, body, headers), 201);
    const again = await act(form, { once: 'o1' });
    expect(again.status).toBe(409);
    for (const page of [
      again.text,
      (await owner.get(of({ id }))).text,
      (await owner.get(form)).text,
      (await owner.get(PAGE)).text,
    ])
      for (const secret of [apiKey, ...keys]) expect(page).not.toContain(secret.split('\n')[1] ?? secret);
  });

  test('is shown on the page of the agent, with what a stranger checks it by', async () => {
    const agent = await onboarded(service, { name: 'Shown' });
    const said = await see(of(agent));
    expect(said).toMatch(/Status ✓ active .* Passport ✓ valid /);
    expect(said).toMatch(/Identity did:web:.* Serial, ECDSA P-256 [0-9a-f]+ Serial, ML-DSA-65 [0-9a-f]+ /);
    expect(said).toContain('Composition in its passport the same');
    expect(said).toContain(`${service.origin}/agents/api/v1/public/verify-agent/${agent.id}`);
    expect(said).toContain('-----BEGIN CERTIFICATE-----');
    expect((await fetch(`${service.origin}/agents/api/v1/public/verify-agent/${agent.id}`)).status).toBe(200);
  });
});

describe('what an agent does', () => {
  let agent: HttpAgent;
  beforeAll(async () => {
    agent = await onboarded(service, { name: 'At work' });
  });

  test('is listed with its decision, and shown with its digests, its entry and what it did to the score', async () => {
    expect(await see(of(agent, '/actions'))).toContain('No actions yet.');
    const right = await agent.did({ input_hash: 'a'.repeat(64) });
    const wrong = await agent.did({ tool_used: HOSTILE, action_description: HOSTILE, output_hash: HOSTILE });
    const list = await owner.get(of(agent, '/actions'));
    expect(shown(list.text)).toContain(
      `${HOSTILE_SHOWN} tool_call · ${HOSTILE_SHOWN} ✗ violation tool outside its list, malformed hash ✓ with its key`,
    );
    const page = await owner.get(of(agent, `/actions/${wrong.action_id}`));
    expect(shown(page.text)).toMatch(
      /✗ violation tool outside its list: .* malformed hash: .* The score went from \d+ to \d+\./,
    );
    expect(shown(page.text)).toContain(`Output digest ${HOSTILE_SHOWN}`);
    for (const { text } of [list, page]) expect(text).not.toContain('<script>alert');
    const good = await owner.get(of(agent, `/actions/${right.action_id}`));
    expect(shown(good.text)).toMatch(
      /✓ allowed .*Signed ✓ with its key, EdDSA .*The agent has not reported an outcome yet\./,
    );
    const [, entry = ''] = /href="([^"]*\/entries\/\d+)"/.exec(good.text) ?? [];
    expect(await see(entry)).toContain('action.logged');
    answered(await agent.send('POST', `/actions/${right.action_id}/outcome`, { outcome: 'succeeded' }), 200, 201);
    expect(await see(of(agent, `/actions/${right.action_id}`))).toContain('Outcome ✓ succeeded');
    expect(await see(of(agent))).toContain(HOSTILE_SHOWN);
    expect(await see('/app/')).toContain('At work: an action was a violation.');
  });

  test('is found by its decision', async () => {
    const said = await see(of(agent, '/actions?decision=violation'));
    expect([said.includes('✗ violation'), said.includes('✓ allowed')]).toEqual([true, false]);
    expect(await see(of(await onboarded(service), '/actions?decision=violation'))).toContain('No actions match.');
  });

  test('is sent anew only when there is something new', async () => {
    const ask = (etag: string) =>
      fetch(service.origin + of(agent, '/actions'), {
        headers: { cookie: `evidence_session=${owner.session}`, 'if-none-match': etag },
      });
    const again = async () => (await ask((await ask('')).headers.get('etag') ?? '')).status;
    // The page changes each minute.
    expect([await again(), await again()]).toContain(304);
    const etag = (await ask('')).headers.get('etag') ?? '';
    await agent.said();
    expect((await ask(etag)).status).toBe(200);
  });
});

describe('trust', () => {
  let agent: HttpAgent;
  beforeAll(async () => {
    agent = await onboarded(service, { name: 'Trusted' });
    await agent.did({ api_called: 'evil.example.com' });
  });

  test('is drawn with as many marks as its table has lines, each with its reason', async () => {
    const { text } = await owner.get(of(agent, '/trust'));
    const { data } = answered(await service.call('GET', `${AGENTS}/${agent.id}/trust-score/history`), 200);
    expect([...text.matchAll(/class="(dot|fell)"/g)]).toHaveLength(data.length);
    expect(text).toMatch(
      /<svg role="img" aria-label="Score from [^"]* in 3 steps: 50 at first, 50 at last, which is MONITOR; the lowest 50, the highest 60"/,
    );
    const said = shown(text);
    for (const { reason } of data) expect(said).toContain(reason);
    expect(said).toMatch(
      /3\. API outside its list .* the action MONITOR .*−10 60 → 50 2\. onboarded .* \+10 50 → 60 1\. registered/,
    );
    expect(said).toMatch(/Tier – MONITOR 50 of 100 Maximum 60: MONITOR promotion takes time Why /);
  });

  test('goes on page by page', async () => {
    const busy = await onboarded(service, { name: 'Busy', allowed_tools: ['read_file'] });
    const filler = (no: number) =>
      `(SELECT agent_no FROM agents WHERE agent_id = '${busy.id}'), ${no}, '2026-11-01T00:00:00.000Z', 'attested_action', 1, 60, 60, 60, 'time', NULL, '{}'`;
    const rows = Array.from({ length: 60 }, (_, at) => `SELECT ${filler(at + 100)}`).join(' UNION ALL ');
    await service.sql(
      `INSERT INTO agent_trust_lines (agent_no, entry_no, at, rule, points, score_before, score_after, ceiling, ceiling_because, action_id, detail) ${rows}`,
    );
    const { text } = await owner.get(of(busy, '/trust'));
    const [, next = ''] = /href="([^"]*)" rel="next"/.exec(text) ?? [];
    const later = await owner.get(next.replaceAll('&amp;', '&'));
    expect([text, later.text].map((page) => [...page.matchAll(/class="(dot|fell)"/g)].length)).toEqual([50, 12]);
  });

  test.each([
    [
      { what: 'rules', rules: 'decoy_used' },
      /Score 50 → 20 Tier ✗ AUTO-SUSPENDED 20 of 100 Status ✗ suspended .*decoy used .* −30 50 → 20/,
    ],
    [
      { what: 'action', tool_used: 'read_file', api_called: '', signed: 'no' },
      /Score 50 → 50 .*The ledger would have no new lines, so the score stays\./,
    ],
    [
      { what: 'action', tool_used: HOSTILE, api_called: '', signed: 'yes' },
      /Score 50 → 35 Tier ! RESTRICTED .*tool outside its list/,
    ],
  ])('says what would happen, and nothing happens: %j', async (typed, words) => {
    const before = (await service.call('GET', `${AGENTS}/${agent.id}/trust-score/history`)).text;
    const { status, text } = await act(of(agent, '/simulate'), typed as Record<string, string>, auditor);
    expect([status, shown(text)]).toEqual([200, expect.stringMatching(words)]);
    expect(text).not.toContain('<script>alert');
    expect((await service.call('GET', `${AGENTS}/${agent.id}/trust-score/history`)).text).toBe(before);
  });

  test('asks which rules', async () => {
    const { status, text } = await act(of(agent, '/simulate'), { what: 'rules' });
    expect([status, shown(text)]).toEqual([422, expect.stringContaining('Choose at least one rule.')]);
  });
});

test('an agent that becomes another one is shown as such, until it is onboarded again', async () => {
  const agent = await onboarded(service, { name: 'Ghost' });
  const { text } = await operator.get(of(agent, '/change'));
  expect(text).toContain('>read_file</textarea>');
  const typed = {
    name: 'Ghost',
    model: 'another-model',
    version: '1.0.0',
    allowed_tools: 'read_file',
    allowed_apis: '',
  };
  const changed = shown((await act(of(agent, '/change'), typed)).text);
  expect(changed).toContain('Its passport is suspended until it is onboarded again.');
  expect(changed).toContain('It differs from what was onboarded: its passport is suspended');
  expect(changed).toMatch(/Passport ✗ suspended .*Composition in its passport [0-9a-f]{64}, different/);
  expect(await see(PAGE)).toContain('Ghost ✓ active ! composition changed – MONITOR');
  expect(await see('/app/')).toContain('Ghost: differs from its passport.');
  await prove(operator);
  expect(await act(of(agent, '/onboard'), { once: 'ghost' })).toMatchObject({ status: 200 });
  expect(await see(of(agent))).toMatch(/Passport ✓ valid .*Composition in its passport the same/);
});

test('a form that changes the name of an agent leaves a tool alone whose name has two lines', async () => {
  const agent = await onboarded(service, { name: 'Two lines', allowed_tools: ['first\nsecond'] });
  const typed = {
    model: 'a-model',
    version: '1.0.0',
    allowed_tools: 'first\r\nsecond',
    allowed_apis: 'api.example.com',
  };
  await act(of(agent, '/change'), { ...typed, name: 'Renamed' });
  const { name, allowed_tools, composition } = answered(await service.call('GET', `${AGENTS}/${agent.id}`), 200);
  expect([name, allowed_tools, composition.changed_at]).toEqual(['Renamed', ['first\nsecond'], null]);
});

test('an agent whose score falls to 20 is suspended with those that it delegates to, and all pages say why', async () => {
  const parent = await onboarded(service, { name: 'Fallen' });
  const child = await onboarded(service, { name: 'Taken along', parent_agent_id: parent.id });
  for (const tool_used of ['one', 'two', 'three']) await parent.did({ tool_used });
  expect(await see(of(parent))).toMatch(
    /It is suspended because its score fell to 20 or less\..*✗ AUTO-SUSPENDED 15 of 100/,
  );
  expect(await see(of(child))).toMatch(
    /the score of the agent that delegates to it fell to 20 or less\..*✗ AUTO-SUSPENDED 15/,
  );
  const front = await see('/app/');
  expect(front).toContain('✗ Fallen: suspended because its score fell to 20 or less.');
  expect(front).toContain('✗ Taken along: suspended with the agent that delegates to it.');
  expect(await tile()).toMatch(/^✗ Agents are suspended What 2 agents suspended/);
  await prove(operator);
  for (const each of [parent, child]) await act(of(each, '/reinstate'), { reason: 'looked at' });
});

describe('the kill switch', () => {
  const NOT_DONE = [
    'It does not end the process of the agent.',
    'It disables no linked IAM app',
    'It does not lock the vault.',
  ];

  test('says before what it does and does not, asks again who it is, and shows every step afterwards', async () => {
    const parent = await onboarded(service, { name: 'Parent' });
    const child = await onboarded(service, { name: 'Child', parent_agent_id: parent.id });
    expect(await see(of(parent))).toMatch(/Delegates to Status Trust Child ✓ active – MONITOR/);
    expect(await see(of(child))).toContain('Parent delegates to this agent');
    expect((await owner.get(of(parent, '/kill'))).path).toBe('/app/prove');
    await prove(owner);
    const asked = await see(of(parent, '/kill'));
    for (const words of NOT_DONE) expect(asked).toContain(words);
    const silent = await act(of(parent, '/kill'), { mode: 'suspend', reason: ' ' }, owner);
    expect([silent.status, shown(silent.text)]).toEqual([
      422,
      expect.stringContaining('Enter a reason; it is recorded.'),
    ]);
    const killed = await act(of(parent, '/kill'), { mode: 'suspend', reason: HOSTILE }, owner);
    const said = shown(killed.text);
    expect(said).toContain('✓ All available steps were completed');
    expect(said).toMatch(/Child Steps for Child .* Parent Steps for Parent /);
    expect(said.match(/Linked IAM apps – not available/g)).toHaveLength(2);
    expect(said.match(/Vault lock – not available/g)).toHaveLength(2);
    expect(said).toContain(`Reason ${HOSTILE_SHOWN} By The owner`);
    expect(said).toMatch(/Seen in public verification after [\d.]+ m?s/);
    expect(killed.text).not.toContain('<script>alert');
    expect(await see(of(child))).toMatch(
      /It is suspended by the kill switch\. .*Its reports are refused and recorded\. .*✗ suspended/,
    );
    expect(await tile()).toMatch(/^✗ Agents are suspended What 2 agents suspended/);
    expect(await see(of(parent))).toMatch(/Kill switch .* ✓ finished .* suspended .* All uses/);
    expect(await see(of(child, '/kills'))).toMatch(/When Status What Reason .* ✓ finished .* suspended /);
    const reinstated = await act(of(parent, '/reinstate'), { reason: 'looked at' }, owner);
    expect(shown(reinstated.text)).toMatch(/✓ active .*! RESTRICTED 40 of 100/);
  });

  test('shows a step that failed, and one that has not ended', async () => {
    const agent = await onboarded(service, { name: 'Failing' });
    const { kill_id } = answered(
      await service.call('POST', `${AGENTS}/${agent.id}/kill-switch`, { mode: 'suspend', reason: 'why' }),
      200,
    );
    const ofKill = `kill_no = (SELECT kill_no FROM agent_kills WHERE kill_id = '${kill_id}')`;
    await service.sql(
      `UPDATE agent_kill_steps SET result = 'failed', detail = 'the deadline <1>' WHERE step = 'certificates' AND ${ofKill}`,
    );
    const receipt = of(agent, `/kills/${kill_id}`);
    const failed = await see(receipt);
    expect(failed).toContain('✗ 1 of 9 steps failed');
    expect(failed).toContain('Certificates ✗ failed the deadline &lt;1&gt;');
    await service.sql(
      `UPDATE agent_kill_steps SET result = NULL, ended_at = NULL WHERE step = 'subscribers' AND ${ofKill}; UPDATE agent_kills SET finished_at = NULL WHERE ${ofKill}`,
    );
    const running = await see(receipt);
    expect(running).toContain('! Steps are running');
    expect(running).toContain('Subscribers ! not finished');
    await service.sql(`UPDATE agent_kills SET finished_at = started_at WHERE ${ofKill}`);
  });

  test('revokes for ever: nothing can be done any more', async () => {
    const agent = await onboarded(service, { name: 'Revoked' });
    const killed = await act(of(agent, '/kill'), { mode: 'revoke', reason: 'it was stolen' }, owner);
    expect(shown(killed.text)).toContain('Receipt: Revoked was revoked');
    const { text } = await owner.get(of(agent));
    expect(shown(text)).toContain('It is permanently revoked. Its reports are refused and recorded.');
    for (const each of ['onboard', 'reinstate', 'change', 'kill']) expect(text).not.toContain(`${of(agent)}/${each}"`);
    const late = await act(of(agent, '/onboard'), { once: 'late' }, owner);
    expect([late.status, late.text.includes('role="alert"')]).toEqual([409, true]);
  });
});

describe('the vault', () => {
  test('shows names and never a value, and decoys are planted in it', async () => {
    const agent = await onboarded(service, { name: 'With a vault' });
    answered(await agent.send('PUT', '/vault/secrets/db-password', { value: 'correct horse' }), 200, 201);
    const wrong = await act(of(agent, '/decoy'), { kind: 'secret', name: 'not a name!' });
    expect([wrong.status, wrong.text.includes('id="name-error"')]).toEqual([422, true]);
    const planted = await act(of(agent, '/decoy'), { kind: 'tool', name: HOSTILE });
    expect(shown(planted.text)).toContain('The decoy is planted.');
    expect(shown(planted.text)).toMatch(/db-password THEN never 1 Remove/);
    expect(shown(planted.text)).toContain(`${HOSTILE_SHOWN} tool THEN Remove`);
    for (const hidden of ['correct horse', '<script>alert']) expect(planted.text).not.toContain(hidden);
  });

  test('gives up a secret and a decoy to somebody who says again who it is, and the stream says who', async () => {
    const agent = await onboarded(service, { name: 'With much' });
    answered(await agent.send('PUT', '/vault/secrets/db-password', { value: 'correct horse' }), 200, 201);
    await act(of(agent, '/decoy'), { kind: 'secret', name: 'root-password' });
    const { text } = await operator.get(of(agent));
    const paths = [...text.matchAll(/href="([^"]*\/(?:secrets|decoys)\/[^"]*\/remove)"/g)].map(([, path = '']) => path);
    const [secret = '', decoy = ''] = paths;
    expect([paths.length, secret]).toEqual([2, of(agent, '/secrets/db-password/remove')]);
    for (const path of paths) expect((await auditor.get(path)).status).toBe(403);
    await prove(operator);
    expect(await see(secret, operator)).toContain('Values that were handed out cannot be recalled');
    expect(shown((await act(secret)).text)).toContain('The secret is removed. ');
    const left = shown((await act(decoy)).text);
    expect(left).toContain('The decoy is removed. ');
    expect(left).not.toMatch(/db-password|root-password/);
    for (const path of [secret, decoy, of(agent, '/decoys/nothing/remove')])
      expect((await operator.get(path)).status).toBe(404);
    // Taking a decoy out here does not count as using it.
    const score = answered(await service.call('GET', `${AGENTS}/${agent.id}`), 200).score;
    const { data } = answered(await service.call('GET', `/entries/?stream_id=agents/${agent.id}`), 200);
    expect([score, data.slice(-2).map(({ action }: { action: string }) => action)]).toEqual([
      60,
      ['vault.secret_removed', 'vault.decoy_removed'],
    ]);
    for (const { actor } of data.slice(-2)) expect(actor).toMatch(/^person:/);
  });
});

describe('subscribers', () => {
  test('are added and removed', async () => {
    const typed = { once: 's1', url: 'https://example.com/events', audience: HOSTILE };
    const wrong = await act(`${PAGE}/subscribers/new`, { ...typed, url: 'ftp://example.com' });
    expect([wrong.status, wrong.text.includes('role="alert"') || wrong.text.includes('url-error')]).toEqual([
      422,
      true,
    ]);
    const added = await act(`${PAGE}/subscribers/new`, typed);
    expect(shown(added.text)).toContain(`https://example.com/events ${HOSTILE_SHOWN} The operator THEN Remove`);
    expect(added.text).not.toContain('<script>alert');
    const [, remove = ''] = /href="([^"]*\/remove)"/.exec(added.text) ?? [];
    expect(shown((await act(remove)).text)).toMatch(/The subscriber is removed\. .*No subscribers yet\./);
  });
});

describe('who may only read', () => {
  test('sees no button, and is refused where there is one', async () => {
    const agent = await onboarded(service, { name: 'Read' });
    await agent.send('PUT', '/vault/secrets/hidden-name', { value: 'x' });
    await service.call('POST', '//agents/api/v1/subscribers', { url: 'https://example.com/e', audience: 'x' });
    const { data } = answered(await service.call('GET', '//agents/api/v1/subscribers'), 200);
    const pages = [
      ['', 'register'],
      [`/of/${agent.id}`, 'onboard', 'change', 'kill', 'decoy', 'reinstate'],
      ['/subscribers', 'new', `${data[0]?.subscriber_id}/remove`],
    ] as const;
    for (const [path, ...acts] of pages) {
      const { text } = await auditor.get(PAGE + path);
      for (const each of acts) {
        expect(text).not.toMatch(new RegExp(`(href|action)="[^"]*/${each}["?]`));
        expect((await auditor.get(`${PAGE}${path}/${each}`)).status, `${path}/${each}`).toBe(403);
      }
    }
    expect(await see(of(agent), auditor)).not.toContain('hidden-name');
  });

  test.each(['', '/actions', '/trust', '/simulate', '/kills', '/kills/nothing', '/actions/nothing'])(
    'is told that there is nothing of an unknown id: %s',
    async (below) => {
      expect((await auditor.get(`${PAGE}/of/nothing${below}`)).status).toBe(404);
    },
  );

  test.each(['?state=nope', '?tier=BEST', '?cursor=nope', '?nope=1'])(
    'is told what is wrong with a question: %s',
    async (query) => {
      expect((await auditor.get(PAGE + query)).status).toBe(422);
    },
  );

  test('finds agents by name, state and tier', async () => {
    expect(await see(`${PAGE}?q=trusted&state=active&tier=MONITOR`, auditor)).toContain('Trusted ✓ active – MONITOR');
    expect(await see(`${PAGE}?q=nobody`, auditor)).toContain('No agents match.');
  });
});
