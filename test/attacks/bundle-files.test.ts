import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { timestampRequest } from '../../src/exporter/export/stamp.ts';
import { chainOf, packageOf, type SentEntry, STREAM } from '../support/chain.ts';
import { evidence } from '../support/evidence.ts';
import { writePackageBundle } from '../support/package-bundle.ts';
import { type BagFiles, rebag } from '../support/rebag.ts';
import { type OpensslAuthority, startOpensslAuthority } from '../support/tsa.ts';
import { foreignBag, writeForeignZip } from '../verifier/bundle/sample.ts';

/** Bundles with valid manifests, whose files are wrong or contradict each other. */

const folder = mkdtempSync(join(tmpdir(), 'bundle-files-'));
const honest = join(folder, 'honest.zip');
const part = join(folder, 'part.zip');
const target = join(folder, 'target.zip');
let authority: OpensslAuthority;
let entries: SentEntry[];

beforeAll(async () => {
  authority = await startOpensslAuthority(join(folder, 'authority'));
  entries = chainOf(20, { timestamp: '2026-01-01T00:00:00.000Z' });
  const evidence = await packageWith(10, 20);
  await writePackageBundle({ target: honest, evidence, summary: summaryOf(20), verifiedAt: new Date() });
  const missing = [{ form: 'summary', code: 'service' as const, reason: '503, after five attempts' }];
  await writePackageBundle({ target: part, evidence, missing });
});
afterAll(async () => {
  await authority.close();
  rmSync(folder, { recursive: true });
});

/** Returns a package with tokens for these entries; an entry named twice gets two different tokens. */
async function packageWith(...sequences: number[]): Promise<Buffer> {
  const checkpoints = await Promise.all(
    sequences.map(async (sequence, index) => {
      const hash = entries[sequence - 1]?.hash ?? '';
      const token = (await tokenFor(hash)).toString('base64');
      const created_at = '2026-11-01T00:00:00.000Z';
      return { checkpoint_id: `c-${index}`, stream_id: STREAM, sequence, hash, created_at, anchor: { token } };
    }),
  );
  return Buffer.from(JSON.stringify(packageOf(entries, { checkpoints })));
}

async function tokenFor(digest: string): Promise<Buffer> {
  const body = Buffer.from(timestampRequest(digest, 1n + BigInt(randomBytes(6).readUIntBE(0, 6))));
  const headers = { 'content-type': 'application/timestamp-query' };
  const answer = await fetch(authority.url, { method: 'POST', headers, body });
  return Buffer.from(await answer.arrayBuffer());
}

function summaryOf(entryCount: number): Buffer {
  const head_hash = entries.at(-1)?.hash;
  const counts = { actors: {}, actions: {}, resource_types: {} };
  return Buffer.from(
    JSON.stringify({ package_id: 'pkg-1', stream_id: STREAM, entry_count: entryCount, head_hash, counts }),
  );
}

interface Report {
  exit_code: number;
  findings: { code: string; key: string }[];
  streams: { status: string; claims: Record<string, { state: string; reason?: string }> }[];
}

const verified = (file: string, ...flags: string[]) => evidence(['verify', file, '--quiet', ...flags], { cwd: folder });

async function verify(file: string, roots = ['--timestamp-roots', authority.rootFile]): Promise<Report> {
  const { code, stdout } = await verified(file, '--json', ...roots);
  const report: Report = JSON.parse(stdout);
  expect(report.exit_code).toBe(code);
  return report;
}

/** Returns the exit code, then each finding with its file, without duplicates. */
const outcomeOf = ({ exit_code, findings }: Report) => [
  exit_code,
  ...new Set(findings.map(({ code, key }) => `${code} ${key.split('.zip:')[1] ?? ''}`.trim())),
];

test('as they are made, a whole bundle is verified with its anchor, and one that lacks a form is incomplete', async () => {
  const whole = await verify(honest);
  expect(outcomeOf(whole)).toEqual([0]);
  expect(whole.streams[0]?.claims).toMatchObject({
    content: { state: 'proved' },
    anchor: { state: 'proved' },
    agreement: { state: 'proved' },
  });
  expect(outcomeOf(await verify(part))).toEqual([3]);
  await rebag(honest, target, () => {});
  expect(outcomeOf(await verify(target))).toEqual([0]);
});

const set = (path: string, content: string | Buffer) => (files: BagFiles) => files.set(path, Buffer.from(content));
const drop = (path: string) => (files: BagFiles) => files.delete(path);
/** Puts the file first, for programs that take the first file of a name. */
const first = (path: string, content: string | Buffer) => (files: BagFiles) => {
  const others = [...files];
  files.clear();
  files.set(path, Buffer.from(content));
  for (const [name, bytes] of others) files.set(name, bytes);
};
const edit = (path: string, change: (text: string) => string) => (files: BagFiles) => {
  const before = files.get(path)?.toString() ?? '';
  const after = change(before);
  expect(after).not.toBe(before);
  files.set(path, Buffer.from(after));
};
const editJson = (path: string, change: (value: Json) => void) =>
  edit(path, (text) => {
    const value = JSON.parse(text);
    change(value);
    return `${JSON.stringify(value, null, 2)}\n`;
  });
// biome-ignore lint/suspicious/noExplicitAny: arbitrary content of the document
type Json = any;

const VERIFICATION = 'data/verification.json';
const TRANSFER_LOG = 'data/transfer-log.json';
const verification = (change: (value: Json) => void) => editJson(VERIFICATION, change);
const transferLog = (change: (value: Json) => void) => editJson(TRANSFER_LOG, change);
const info = (pattern: RegExp, replacement: string) =>
  edit('bag-info.txt', (text) => text.replace(pattern, replacement));
const cut = (files: BagFiles) => {
  const evidence = files.get('data/evidence.json') ?? Buffer.alloc(0);
  files.set('data/evidence.json', evidence.subarray(0, 1000));
  files.set('data/evidence.json.part', evidence.subarray(1000));
};
const swapToken = (files: BagFiles) => {
  files.set('data/checkpoints/10.tsr', files.get('data/checkpoints/20.tsr') ?? Buffer.alloc(0));
};

type Row = [words: string, change: (files: BagFiles) => void, findings: string[]];
const unexpected = (path: string) => `bundle/unexpected-file ${path}`;
const ambiguous = (path: string) => `bundle/ambiguous ${path}`;
const contradiction = (path: string) => `bundle/contradiction ${path}`;
const differs = `verdict/differs ${VERIFICATION}`;

describe('one file of a kind', () => {
  test.each<Row>([
    [
      'two summaries, an honest one first and a lying one after it',
      (files) => {
        set('data/summary.html', '<p>999 entries</p>')(files);
      },
      [ambiguous('data/summary.html')],
    ],
    [
      'two summaries, the lying one first',
      (files) => first('data/summary.bin', summaryOf(999))(files),
      [ambiguous('data/summary.json')],
    ],
    ['the package cut in two, half of it as a part', cut, [ambiguous('data/evidence.json.part')]],
    [
      'an empty package, all of it in the part',
      (files) => {
        files.set('data/evidence.json.part', files.get('data/evidence.json') ?? Buffer.alloc(0));
        files.set('data/evidence.json', Buffer.alloc(0));
      },
      [ambiguous('data/evidence.json.part')],
    ],
    [
      'a part alone, in a bundle that calls itself complete',
      (files) => {
        files.set('data/evidence.json.part', files.get('data/evidence.json') ?? Buffer.alloc(0));
        files.delete('data/evidence.json');
      },
      [contradiction('data/evidence.json.part')],
    ],
    [
      'a part of the PDF beside nothing that says why',
      set('data/evidence.pdf.part', '%PDF'),
      [contradiction('data/evidence.pdf.part')],
    ],
    [
      'a PDF whole and in part',
      (files) => {
        set('data/evidence.pdf', '%PDF')(files);
        set('data/evidence.pdf.part', '%PDF')(files);
      },
      [ambiguous('data/evidence.pdf.part')],
    ],
    [
      'a form that is there and called missing',
      set('_MISSING_json.txt', 'The json form of this package is missing: service.\n\nwhy\n'),
      [contradiction('data/evidence.json')],
    ],
  ])('%s', async (_words, change, findings) => {
    await rebag(honest, target, change);
    const report = await verify(target);
    expect(outcomeOf(report)).toEqual([1, ...findings]);
  });

  test('nothing of two packages or two summaries is proved by either', async () => {
    await rebag(honest, target, cut);
    const states = Object.values((await verify(target)).streams[0]?.claims ?? {}).map(({ state }) => state);
    expect(new Set(states)).toEqual(new Set(['unproved']));
    await rebag(honest, target, first('data/summary.bin', summaryOf(999)));
    expect((await verify(target)).streams[0]?.claims['agreement']?.state).toBe('unproved');
  });
});

describe('a closed set of names', () => {
  test.each<Row>([
    [
      'files that lie elsewhere',
      set('fetch.txt', 'https://example.com/x 3 data/more.json\n'),
      [unexpected('fetch.txt')],
    ],
    [
      'a manifest by SHA-512 that contradicts',
      set('manifest-sha512.txt', `${'0'.repeat(128)}  data/evidence.json\n`),
      [unexpected('manifest-sha512.txt')],
    ],
    [
      'a manifest by MD5 that contradicts',
      set('manifest-md5.txt', `${'0'.repeat(32)}  data/evidence.json\n`),
      [unexpected('manifest-md5.txt')],
    ],
    [
      'a tag manifest by SHA-512',
      set('tagmanifest-sha512.txt', `${'0'.repeat(128)}  bagit.txt\n`),
      [unexpected('tagmanifest-sha512.txt')],
    ],
    ['a manifest by SHA-256 in capitals', set('Manifest-SHA256-2.txt', ''), [unexpected('Manifest-SHA256-2.txt')]],
    ['notes of somebody', set('data/notes.txt', 'all is well'), [unexpected('data/notes.txt')]],
    ['a README of another kind', set('README.html', 'all is well'), [unexpected('README.html')]],
    ['a README whose name only looks the same', set('REАDME.txt', 'all is well'), [unexpected('REАDME.txt')]],
    ['evidence in a folder of its own', set('data/more/evidence.json', '{}'), [unexpected('data/more/evidence.json')]],
    ['a form missing that no service has', set('_MISSING_xml.txt', ''), [unexpected('_MISSING_xml.txt')]],
    ['a contract that nothing was read by', set('data/contract.yaml', 'name: x\n'), [unexpected('data/contract.yaml')]],
    [
      'a token under another number form',
      set('data/checkpoints/010.tsr', 'x'),
      [unexpected('data/checkpoints/010.tsr')],
    ],
    ['a folder that holds nothing', set('data/hidden/', ''), [unexpected('data/hidden/')]],
    ['no README', drop('README.txt'), ['bundle/missing-file README.txt']],
    ['no transfer log', drop(TRANSFER_LOG), [`bundle/missing-file ${TRANSFER_LOG}`]],
    ['no bag-info.txt', drop('bag-info.txt'), ['bundle/missing-file bag-info.txt']],
    ['no statement of what was verified', drop(VERIFICATION), [`object/missing ${VERIFICATION}`]],
  ])('%s', async (_words, change, findings) => {
    await rebag(honest, target, change);
    expect(outcomeOf(await verify(target))).toEqual([1, ...findings]);
  });

  test.each(['data/Evidence.json', 'data/EVIDENCE.JSON', 'data/verification.jsоn'])('%s', async (path) => {
    await rebag(honest, target, set(path, '{}'));
    const report = await verify(target);
    expect(report.exit_code).toBe(1);
    expect(report.findings.map(({ key }) => key)).toContain(`${target}:${path}`);
  });

  test('the form that is missing whatever stands in its place', async () => {
    await rebag(honest, target, drop('data/evidence.json'));
    const report = await verify(target);
    expect(outcomeOf(report)).toEqual(
      expect.arrayContaining([1, 'bundle/missing-file data/evidence.json', contradiction(TRANSFER_LOG)]),
    );
    expect(report.streams[0]?.claims['content']?.state).toBe('unproved');
  });
});

describe('the tokens beside the package', () => {
  test.each<Row>([
    ['another sound token, of another entry', swapToken, [contradiction('data/checkpoints/10.tsr')]],
    ['garbage', set('data/checkpoints/10.tsr', 'garbage'), [contradiction('data/checkpoints/10.tsr')]],
    [
      'a token for which the package has none',
      set('data/checkpoints/15.tsr', 'x'),
      [unexpected('data/checkpoints/15.tsr')],
    ],
    [
      'a second token for an entry that has one',
      set('data/checkpoints/10.2.tsr', 'x'),
      [unexpected('data/checkpoints/10.2.tsr')],
    ],
    ['a token left out', drop('data/checkpoints/10.tsr'), ['bundle/missing-file data/checkpoints/10.tsr']],
  ])('%s', async (_words, change, findings) => {
    await rebag(honest, target, change);
    expect(outcomeOf(await verify(target))).toEqual([1, ...findings]);
  });

  test('two tokens that differ for one entry are both there, and one that is repeated once', async () => {
    const twice = join(folder, 'twice.zip');
    const evidence = JSON.parse((await packageWith(10, 20, 10)).toString());
    evidence.checkpoints.push(evidence.checkpoints[1]);
    await writePackageBundle({ target: twice, evidence: Buffer.from(JSON.stringify(evidence)) });
    const names: string[] = [];
    await rebag(twice, target, (files) => {
      names.push(...[...files.keys()].filter((path) => path.endsWith('.tsr')));
    });
    expect(names).toEqual(['data/checkpoints/10.2.tsr', 'data/checkpoints/10.tsr', 'data/checkpoints/20.tsr']);
    expect(outcomeOf(await verify(target))).toEqual([0]);
    await rebag(twice, target, drop('data/checkpoints/10.2.tsr'));
    expect(outcomeOf(await verify(target))).toEqual([1, 'bundle/missing-file data/checkpoints/10.2.tsr']);
  });
});

describe('the transfer log', () => {
  const step = (value: Json, name: string) => value.steps.find((one: Json) => one.step === name);
  test.each<Row>([
    ['that is no JSON', set(TRANSFER_LOG, 'received everything'), [`object/unreadable ${TRANSFER_LOG}`]],
    [
      'with a member that it does not have',
      transferLog((log) => {
        log.approved = true;
      }),
      [`object/unreadable ${TRANSFER_LOG}`],
    ],
    [
      'of another run',
      transferLog((log) => {
        log.run_id = 'other';
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    [
      'of another stream',
      transferLog((log) => {
        log.stream_id = 'other';
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    [
      'with another SHA-256 of the package',
      transferLog((log) => {
        step(log, 'json').exchange.sha256 = '0'.repeat(64);
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    [
      'by which the package was refused',
      transferLog((log) => {
        step(log, 'json').exchange.status = 500;
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    [
      'with the path of another package',
      transferLog((log) => {
        step(log, 'json').exchange.path = '/evidence/pkg-666/json';
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    [
      'with another length of the summary',
      transferLog((log) => {
        step(log, 'summary').exchange.bytes += 1;
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    [
      'that received the package under another name',
      transferLog((log) => {
        step(log, 'json').file = 'data/x.json';
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    [
      'that received the package twice',
      transferLog((log) => {
        log.steps.push(step(log, 'json'));
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    [
      'that received nothing',
      transferLog((log) => {
        log.steps = [];
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    ['of which a form is gone', drop('data/summary.json'), [contradiction(TRANSFER_LOG), differs]],
    [
      'that received a file by another step',
      transferLog((log) => {
        log.steps.push({ ...step(log, 'json'), step: 'listing' });
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    [
      "that asked for the service's check, of which nothing is stated",
      transferLog((log) => {
        log.steps.push({ step: 'vendor-verify', exchange: step(log, 'json').exchange });
      }),
      [contradiction(TRANSFER_LOG)],
    ],
    [
      "without the service's check that is stated",
      verification((value) => {
        value.vendor = { verified: true, checked_at: null, failed_sequences: [] };
      }),
      [contradiction(TRANSFER_LOG)],
    ],
  ])('%s', async (_words, change, findings) => {
    await rebag(honest, target, change);
    const [code, ...found] = outcomeOf(await verify(target));
    expect(code).toBe(1);
    expect(found).toEqual(expect.arrayContaining(findings.filter((finding) => finding !== differs)));
  });
});

describe('bag-info.txt', () => {
  test.each<Row>([
    ['of another run', info(/(External-Identifier: )r\//, '$1other/'), [contradiction('bag-info.txt')]],
    ['of another stream', info(/(External-Identifier: .*)\n/, '$1-2\n'), [contradiction('bag-info.txt')]],
    ['of another period', info(/everything/, 'nothing'), [contradiction('bag-info.txt')]],
    ['that calls it partial', info(/COMPLETE/, 'PARTIAL'), [contradiction('bag-info.txt')]],
    ['that says its status twice', info(/(Evidence-Status: )/, '$1PARTIAL\n$1'), [contradiction('bag-info.txt')]],
    ['that says more', info(/$/, 'Approved-By: the auditor\n'), [contradiction('bag-info.txt')]],
    ['without a day', info(/Bagging-Date: .*\n/, ''), [contradiction('bag-info.txt')]],
  ])('%s', async (_words, change, findings) => {
    await rebag(honest, target, change);
    expect(outcomeOf(await verify(target))).toEqual([1, ...findings]);
  });

  test.each<Row>([
    ['a partial bundle that calls itself complete', info(/PARTIAL/, 'COMPLETE'), [contradiction('bag-info.txt')]],
    ['one whose form was put back', set('data/summary.json', 'x'), [contradiction('data/summary.json')]],
    ['one whose missing form is no longer mentioned', drop('_MISSING_summary.txt'), [contradiction('bag-info.txt')]],
    [
      'one that states that it is verified',
      verification((value) => {
        value.verdict.status = 'verified';
      }),
      [differs],
    ],
  ])('%s', async (_words, change, findings) => {
    await rebag(part, target, change);
    expect(outcomeOf(await verify(target))).toEqual([1, ...findings]);
  });
});

test('a stream that the list does not have, though each stream has a package of its own', async () => {
  await rebag(honest, target, (files) => {
    editJson('data/service.json', (value) => {
      value.stream_record = 'null';
    })(files);
    verification(({ statement }) => Object.assign(statement, { entries: null, head: { sequence: null, hash: null } }))(
      files,
    );
  });
  expect(outcomeOf(await verify(target))).toEqual([1, contradiction('data/service.json')]);
});

test('a bundle whose documents few programs can read', async () => {
  const names = ['verification', 'service', 'transfer-log'].map((name) => `data/${name}.json`);
  const bag = foreignBag(Object.fromEntries(names.map((name) => [name, '{}'])));
  writeForeignZip(
    target,
    bag.map((entry) => ({ ...entry, method: 'bzip2' as const })),
  );
  expect((await verify(target)).exit_code).toBe(1);
});

test('a bundle in the folder of another stream', async () => {
  await rebag(honest, target, () => {}, 'other-12345678');
  expect(outcomeOf(await verify(target))).toEqual([1, 'bundle/contradiction']);
});

describe('verification.json', () => {
  test.each<[string, (value: Json) => void]>([
    [
      'another recipe',
      (value) => {
        value.recipe = 'by hand';
      },
    ],
    [
      'another contract',
      (value) => {
        value.contract = 'other';
      },
    ],
    [
      'a status that its claims do not come to',
      (value) => {
        value.verdict.status = 'refuted';
      },
    ],
    [
      'verified, and a required claim is unproved',
      (value) => {
        value.required_claims = ['order', 'completeness'];
      },
    ],
    [
      'findings that nobody found',
      (value) => {
        const finding = {
          code: 'order/gap',
          severity: 'error',
          stream_id: STREAM,
          from: 3,
          to: 4,
          message: '',
        };
        value.verdict.findings = [finding];
        value.verdict.findings_count = 1;
      },
    ],
    [
      'fewer findings than it lists',
      (value) => {
        const finding = {
          code: 'anchor/certificate-expired',
          severity: 'warning',
          stream_id: STREAM,
          message: '',
        };
        value.verdict.findings = [finding];
      },
    ],
    [
      'seals as proved by no key',
      (value) => {
        value.verdict.claims.seal = { state: 'proved' };
      },
    ],
    [
      'the anchor as proved under no root',
      (value) => {
        value.verdict.claims.anchor = { state: 'proved' };
      },
    ],
    [
      'a package of another period',
      (value) => {
        value.package_period = { from: '2026-01-01T00:00:00.000Z', to: null };
      },
    ],
  ])('%s', async (_words, change) => {
    await rebag(honest, target, verification(change));
    const [code, ...findings] = outcomeOf(await verify(target));
    expect([code, new Set(findings)]).toEqual([1, new Set([differs])]);
  });

  test('a claim that does not exist is required', async () => {
    await rebag(
      honest,
      target,
      verification((value) => {
        value.required_claims = ['nonsense'];
      }),
    );
    expect(outcomeOf(await verify(target))).toEqual([1, `object/unreadable ${VERIFICATION}`]);
  });

  test('the anchor that was recorded as proved, and that nobody here can check, is not ours, and said to be recorded', async () => {
    await rebag(
      honest,
      target,
      verification((value) => {
        value.verdict.claims.anchor = { state: 'proved', basis: 'says who' };
        value.timestamp_roots = ['00:11'];
      }),
    );
    const { streams } = await verify(target, []);
    expect(streams[0]?.claims['anchor']).toMatchObject({ state: 'unproved', recorded: 'proved' });
    expect((await verified(target)).stdout).toContain(
      '– anchor: recorded as proved, not checked here: no time-stamping authority is trusted here',
    );
  });
});
