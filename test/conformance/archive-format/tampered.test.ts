import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openDirectoryArchive } from '../../../src/exporter/archive/directory/archive.ts';
import { runVerify } from '../../../src/exporter/cli/commands/verify.ts';
import { handOver } from '../../../src/exporter/ledger/hand-over.ts';
import { readSigningKey } from '../../../src/exporter/ledger/signing-key.ts';
import { signedPart } from '../../../src/verifier/ledger/ledger.ts';
import { sign } from '../../../src/verifier/signature/envelope.ts';
import { type SigningKey, toPem } from '../../../src/verifier/signature/key.ts';
import { Altered, inFile, type Json, sha256 } from '../../support/altered-archive.ts';
import { type SentEntry, sealed } from '../../support/chain.ts';
import { carryOut } from '../../support/command.ts';
import { type Authority, genTimeAt, newAuthority } from '../../support/forging-authority.ts';
import { runToEnd } from '../../support/process.ts';
import type { BagFiles } from '../../support/rebag.ts';
import { newKey } from '../../support/signed-archive.ts';
import { someRows } from '../../support/some-rows.ts';
import { forge, statusInfo } from '../../support/tsa-forge.ts';
import { MONTHS, makeWholeArchive, type WholeArchive } from '../../support/whole-archive.ts';

/** Verifier written from templates/help/archive-format.md alone. */
const VERIFIER = resolve(import.meta.dirname, 'verify.py');

let whole: WholeArchive;
/** Authority that stamps any digest with any time, under a pinned root. */
let pinned: Authority;
let roots: string;
const copies = mkdtempSync(join(tmpdir(), 'tampered-test-'));
beforeAll(async () => {
  [whole, pinned] = await Promise.all([
    makeWholeArchive(),
    newAuthority('Pinned', { from: '2020-01-01', to: '2060-01-01' }),
  ]);
  roots = join(copies, 'roots.pem');
  writeFileSync(roots, readFileSync(whole.rootFile, 'utf8') + pinned.root.pem);
});
afterAll(() => {
  rmSync(copies, { recursive: true, force: true });
});

async function ours(folder: string) {
  const flags = {
    targets: [folder],
    'public-key': [whole.key.publicFile],
    'timestamp-roots': roots,
    'stamp-roots': roots,
    'seal-key': [`k1=${whole.sealKeyFile}`],
  };
  const { code, said, stdout } = await carryOut(runVerify, flags, copies);
  return { code, said: said + stdout };
}

async function theDocuments(folder: string) {
  const words = ['--public-key', whole.key.publicFile, '--root', roots, '--service-root', roots];
  const seal = ['--seal-key', `k1=${whole.sealKeyFile}`];
  const { code, stdout, stderr } = await runToEnd('python3', ['-B', VERIFIER, folder, ...words, ...seal], {
    cwd: copies,
  });
  return { code, said: stdout + stderr };
}

const [FIRST, SECOND] = MONTHS;
const [VERIFIED, REFUTED, OTHER_VERSION, INCOMPLETE] = [0, 1, 2, 3];
const run = (month: string, name: string) => `runs/${month}/${name}`;
const stream = (month: string, name: string) => `runs/${month}/streams/${name}`;
const [PAYMENTS, LOGINS] = ['payments-prod-dc9c069f', 'logins-4b2e43ec'];

/** Rows of one kind make similar changes to similar objects; a row without a kind is its own kind. */
type Row = [words: string, change: (archive: Altered) => void | Promise<void>, code: number, kind?: string];

const BYTES: Row[] = [
  ['nothing', () => {}, VERIFIED],
  ['a byte of a bundle', (a) => a.flip(stream(FIRST, `${PAYMENTS}.zip`)), REFUTED, 'object'],
  ['a byte of a stream record', (a) => a.flip(stream(FIRST, `${LOGINS}.json`)), REFUTED, 'object'],
  ['a byte of a run record', (a) => a.flip(run(FIRST, 'run.json')), REFUTED],
  ['a byte of a report', (a) => a.flip(run(SECOND, 'report.pdf')), REFUTED, 'object'],
  ['a byte of the draft', (a) => a.flip(run(SECOND, 'run-draft.json')), REFUTED, 'object'],
  ['a byte of a ledger entry', (a) => a.flip('ledger/00000002.json'), REFUTED],
  ['a byte of a statement', (a) => a.flip(run(FIRST, 'run.dsse.json')), REFUTED],
  ['a byte of a token', (a) => a.flip(run(FIRST, 'run.tsr')), REFUTED],
  ['a byte of the public key', (a) => a.flip(a.find('keys', '.pem')), REFUTED],
];

const FIELDS: Row[] = [
  [
    'the outcome of a run',
    (a) => a.editRun(SECOND, (record) => (record.warnings = [{ code: 'replaces', message: 'all is well' }])),
    REFUTED,
    'run',
  ],
  [
    'who asked for a run',
    (a) => a.editOf(SECOND, run(SECOND, 'asked.json'), ({ scope }) => (scope.requested_by = 'somebody')),
    REFUTED,
    'run',
  ],
  [
    'the verdict in a stream record',
    (a) => a.editOf(SECOND, stream(SECOND, `${LOGINS}.json`), (record) => (record.entries = 3)),
    REFUTED,
    'run',
  ],
  [
    'the service of the archive',
    (a) => a.edit('archive.json', (archive) => (archive.audit_url = 'https://other.example')),
    REFUTED,
    'archive',
  ],
  [
    'the service of the archive, in the ledger too',
    (a) => {
      a.edit('archive.json', (archive) => (archive.audit_url = 'https://other.example'));
      for (const key of a.ledger) a.edit(key, (entry) => (entry.audit_url = 'https://other.example'));
      a.recompute();
    },
    REFUTED,
    'archive',
  ],
  [
    'a head in the first ledger entry, and all above',
    (a) => {
      a.edit('ledger/00000001.json', ({ heads }) => (heads.logins.hash = 'f'.repeat(64)));
      a.recompute();
    },
    REFUTED,
    'ledger',
  ],
  [
    'the reason of an abandonment',
    (a) => {
      a.edit('ledger/00000003.json', (entry) => (entry.reason = 'another'));
      a.recompute();
    },
    REFUTED,
    'ledger',
  ],
  [
    'the order of members in the newest ledger entry',
    (a) => {
      const { signature, format, ...entry } = a.read('ledger/00000003.json');
      a.write('ledger/00000003.json', { ...entry, format, signature });
    },
    REFUTED,
    'form',
  ],
  [
    'a member more in a ledger entry',
    (a) => a.edit('ledger/00000003.json', (entry) => (entry.note = '')),
    REFUTED,
    'form',
  ],
  [
    'a member twice in a run record',
    (a) => {
      const key = run(SECOND, 'run.json');
      a.put(key, a.bytes(key).toString().replace('{\n', '{\n  "format": "evidence-run/7",\n'));
      a.recompute();
    },
    REFUTED,
  ],
  [
    'how a statement is written',
    (a) => a.put(run(FIRST, 'run.dsse.json'), `${JSON.stringify(a.read(run(FIRST, 'run.dsse.json')))}\n`),
    REFUTED,
    'form',
  ],
  [
    'the run of a record of sharing',
    (a) => a.edit(a.find(run(FIRST, 'hold-log'), '-share.json'), (record) => (record.run_id = SECOND)),
    REFUTED,
    'sharing',
  ],
  [
    'a member more in a record of sharing',
    (a) => a.edit(a.find(run(FIRST, 'hold-log'), '-share.json'), (record) => (record.note = '')),
    REFUTED,
    'sharing',
  ],
  [
    'whom a run was shared with, which nobody signs',
    (a) => a.edit(a.find(run(FIRST, 'hold-log'), '-share.json'), (record) => (record.shared_with = 'somebody')),
    VERIFIED,
  ],
];

const OBJECTS: Row[] = [
  ['a bundle is removed', (a) => a.remove(stream(FIRST, `${LOGINS}.zip`)), REFUTED, 'missing'],
  ['a stream record is removed', (a) => a.remove(stream(FIRST, `${LOGINS}.json`)), REFUTED, 'missing'],
  ['a report is removed', (a) => a.remove(run(FIRST, 'index.csv')), REFUTED, 'missing'],
  ['a statement is removed', (a) => a.remove(run(FIRST, 'run.dsse.json')), REFUTED],
  ['a run record is removed', (a) => a.remove(run(SECOND, 'run.json')), REFUTED, 'missing'],
  ['a run is removed', (a) => a.remove(`runs/${SECOND}`), REFUTED, 'missing'],
  ['what says whose evidence it is, is removed', (a) => a.remove('archive.json'), REFUTED],
  ['the public key is removed', (a) => a.remove('keys'), REFUTED],
  ['a file is added to a run', (a) => a.put(run(FIRST, 'notes.txt'), 'x'), REFUTED, 'added'],
  ['a file is added to the archive', (a) => a.put('notes.txt', 'x'), REFUTED, 'added'],
  ['a key is added', (a) => a.put(`keys/${sha256('x')}.pem`, 'x'), REFUTED],
  ['a try is added to a finalized run', (a) => a.put(run(FIRST, 'attempts/x/attempt.json'), '{}\n'), REFUTED, 'added'],
  ['a bundle is a link', (a) => linked(a, stream(FIRST, `${LOGINS}.zip`)), REFUTED],
  ['bundles of two runs are swapped', (a) => a.swap(...both(stream, `${LOGINS}.zip`)), REFUTED, 'swapped'],
  ['stream records of two runs are swapped', (a) => a.swap(...both(stream, `${LOGINS}.json`)), REFUTED, 'swapped'],
  ['statements of two runs are swapped', (a) => a.swap(...both(run, 'run.dsse.json')), REFUTED],
  ['tokens of two runs are swapped', (a) => a.swap(...both(run, 'run.tsr')), REFUTED],
  ['run records are swapped, and all above', (a) => swapRuns(a), REFUTED],
  ['a run has another name', (a) => a.move(`runs/${SECOND}`, 'runs/2024-11'), REFUTED],
  ['another run was begun', (a) => a.copy(run(SECOND, 'asked.json'), 'runs/2024-11/asked.json'), INCOMPLETE],
];

const LEDGER: Row[] = [
  ['is cut in the middle', (a) => a.remove('ledger/00000002.json'), REFUTED],
  ['is cut in the middle and numbered anew', (a) => renumbered(a), REFUTED],
  ['lacks its newest entry, which gave up a run', (a) => a.remove('ledger/00000003.json'), VERIFIED],
  ['goes back to an earlier state, with all that came later', (a) => rolledBack(a), VERIFIED],
  ['forks', (a) => forked(a), REFUTED, 'fork'],
  ['has its newest entry twice', (a) => a.copy('ledger/00000003.json', 'ledger/00000004.json'), REFUTED, 'fork'],
  ['ends without a signature', (a) => unsigned(a, ['ledger/00000003.json']), REFUTED, 'unsigned'],
  ['has no signature at all', (a) => unsigned(a, a.ledger), REFUTED, 'unsigned'],
  ['abandons the newest run in the place of its entry', (a) => abandoned(a), REFUTED],
  ['is signed with another key, as are the statements', (a) => a.resign(newKey()), REFUTED],
];

const TOKENS: Row[] = [
  ['the first is removed', (a) => a.remove(run(FIRST, 'run.tsr')), REFUTED],
  ['the only one is removed', (a) => a.remove(run(SECOND, 'run.tsr')), INCOMPLETE],
  [
    'the renewal is removed, which its record shows and nobody signs',
    (a) => a.remove(run(FIRST, 'run.2.tsr')),
    VERIFIED,
  ],
  ['the record of the renewal is removed', (a) => a.remove(a.find(run(FIRST, 'hold-log'), '-restamp.json')), REFUTED],
  ['the renewal is the first again', (a) => a.copy(run(FIRST, 'run.tsr'), run(FIRST, 'run.2.tsr')), REFUTED],
  ['one is of an authority of somebody else', (a) => stampedByOther(a), INCOMPLETE],
  ['one is of somebody else, over another digest', (a) => stampedByOther(a, { over: 'x' }), REFUTED],
  ['one is of somebody else, signed with another key', (a) => stampedByOther(a, { signedWith: pinned }), REFUTED],
  ['one is of now', (a) => stamped(a, 0), VERIFIED],
  ['one is four minutes ahead', (a) => stamped(a, 4), VERIFIED],
  ['one is a day ahead', (a) => stamped(a, 24 * 60), INCOMPLETE, 'ahead'],
  ['one is ten years ahead', (a) => stamped(a, 10 * 365 * 24 * 60), INCOMPLETE, 'ahead'],
  ['one is ten years ahead, over another digest', (a) => stamped(a, 10 * 365 * 24 * 60, { over: 'x' }), REFUTED],
  ['the renewal is ten years ahead, of a stamp that holds', (a) => renewed(a, 10 * 365 * 24 * 60), VERIFIED],
];

const BUNDLES: Row[] = [
  [
    'an entry is edited',
    edited(PAYMENTS, 'data/evidence.json', ({ entries }) => (entries[3].actor = 'nobody')),
    REFUTED,
  ],
  ['a file is added', rebagged((files) => files.set('data/notes.txt', Buffer.from('x'))), REFUTED],
];

/** Changes by an attacker with the signing key: only the evidence itself reveals them. */
const SIGNED: Row[] = [
  ['nothing', rebagged(() => undefined), VERIFIED],
  [
    'an entry is edited',
    edited(PAYMENTS, 'data/evidence.json', ({ entries }) => (entries[3].actor = 'nobody')),
    REFUTED,
  ],
  ['an entry is edited, and hashed and sealed anew', (a) => rehashed(a), REFUTED],
  [
    'an entry is left out',
    edited(PAYMENTS, 'data/evidence.json', ({ entries }) => entries.splice(1, 1)),
    REFUTED,
    'chain',
  ],
  ['entries are swapped', edited(PAYMENTS, 'data/evidence.json', ({ entries }) => entries.reverse()), REFUTED, 'chain'],
  ['a checkpoint has another token', edited(PAYMENTS, 'data/evidence.json', otherToken), REFUTED],
  ['a token beside the package is another', rebagged((files) => swapTokens(files), PAYMENTS), REFUTED],
  ['a name stands twice in an entry', rebagged((files) => doubled(files)), REFUTED],
  [
    'the package states another count',
    edited(LOGINS, 'data/evidence.json', (form) => (form.entry_count = 3)),
    REFUTED,
    'forms',
  ],
  [
    'the summary states another count',
    edited(LOGINS, 'data/summary.json', (form) => (form.entry_count = 3)),
    REFUTED,
    'forms',
  ],
  [
    'a claim is said to be proved',
    edited(LOGINS, 'data/verification.json', ({ verdict }) => (verdict.claims.anchor.state = 'proved')),
    REFUTED,
    'verdict',
  ],
  [
    'another head is said to be stated',
    edited(LOGINS, 'data/verification.json', ({ statement }) => (statement.head.sequence = 4)),
    REFUTED,
    'verdict',
  ],
  [
    'an earlier run is said not to be known',
    edited(LOGINS, 'data/verification.json', (verification) => (verification.earlier = [])),
    REFUTED,
    'verdict',
  ],
  [
    'seals are said to be proved by another key',
    edited(LOGINS, 'data/verification.json', (verification) => (verification.seal_key_ids = ['zz'])),
    REFUTED,
    'keys',
  ],
  ['another run is named', edited(LOGINS, 'data/verification.json', (one) => (one.run_id = FIRST)), REFUTED, 'verdict'],
  [
    'the service is said to have checked nothing',
    edited(LOGINS, 'data/service.json', (service) => (service.check_answer = '{}')),
    REFUTED,
  ],
  [
    'a form was received otherwise',
    edited(LOGINS, 'data/transfer-log.json', ({ steps }) => steps.splice(2, 1)),
    REFUTED,
  ],
  ['a file is added', rebagged((files) => files.set('data/notes.txt', Buffer.from('x'))), REFUTED, 'files'],
  ['what people read is removed', rebagged((files) => files.delete('README.txt')), REFUTED, 'files'],
  ['a line of the listing is left out', rebagged((files) => cutListing(files)), REFUTED],
  ['bag-info.txt names another run', rebagged((files) => renamed(files)), REFUTED],
  [
    'warnings of the run',
    (a) => a.editRun(SECOND, (record) => (record.warnings = [{ code: 'replaces', message: 'x' }])),
    VERIFIED,
  ],
  ['what the run says of the one before', (a) => a.editRun(SECOND, earlier), REFUTED],
  [
    'the service of the run',
    (a) => a.editRun(SECOND, ({ source }) => (source.audit_url = 'https://x')),
    REFUTED,
    'run',
  ],
  [
    'how many streams there were',
    (a) => a.editRun(SECOND, ({ reconciliation }) => reconciliation.listed++),
    REFUTED,
    'run',
  ],
  ['a stream is left out, as excluded by nothing', (a) => withoutStream(a, { excluded: ['r'] }), REFUTED, 'left out'],
  ['a stream is left out, as failed', (a) => withoutStream(a, { failed: ['r'] }), REFUTED, 'left out'],
  ['a stream is left out without a word', (a) => withoutStream(a, {}), REFUTED],
  ['the exit code', (a) => a.editRun(SECOND, (record) => (record.exit_code = 3)), REFUTED, 'sums'],
  [
    'the outcome, and the exit code with it',
    (a) => a.editRun(SECOND, (record) => Object.assign(record, { outcome: 'empty', exit_code: 4 })),
    REFUTED,
    'sums',
  ],
  [
    'how many streams of a kind there were',
    (a) => a.editRun(SECOND, ({ reconciliation }) => Object.assign(reconciliation, { exported: 1, empty: 1 })),
    REFUTED,
    'sums',
  ],
  ['which streams there were', (a) => a.editRun(SECOND, (record) => record.streams.pop()), REFUTED, 'run'],
  ['where a report lies', (a) => a.editRun(SECOND, ({ documents }) => (documents[2].name = 'x.pdf')), REFUTED, 'run'],
  [
    'the contract is named otherwise',
    edited(LOGINS, 'data/verification.json', (one) => (one.contract = 'x')),
    REFUTED,
    'verdict',
  ],
];

const VERSIONS: Row[] = [
  ['archive.json is of another version', (a) => reformatted(a, ['archive.json']), REFUTED, 'one'],
  ['a run record is of another version', (a) => reformatted(a, [run(SECOND, 'run.json')]), REFUTED, 'one'],
  ['all that tells it is of another version', (a) => reformatted(a, ['archive.json', ...a.ledger]), OTHER_VERSION],
  [
    'the ledger is of another version, but for one entry',
    (a) => reformatted(a, ['archive.json', ...a.ledger.slice(1)]),
    REFUTED,
  ],
];

const HAND_OVER = 'ledger/00000004.json';
const HAND_OVERS: Row[] = [
  ['a hand-over to a new signing key', (a) => handedOver(a), VERIFIED],
  ['a hand-over that somebody else signed', countersignedBy(() => ({ signature: newKey() })), REFUTED],
  ['a hand-over that the new key did not sign', countersignedBy((own) => ({ countersignature: own })), REFUTED],
  [
    'a hand-over of which a head was changed',
    async (a) => {
      await handedOver(a);
      a.edit(HAND_OVER, ({ heads }) => Object.assign(Object.values(heads)[0] as Json, { hash: 'f'.repeat(64) }));
    },
    REFUTED,
  ],
  [
    'a hand-over without its countersignature',
    async (a) => {
      await handedOver(a);
      a.edit(HAND_OVER, (entry) => delete entry.countersignature);
    },
    REFUTED,
  ],
  [
    'an entry by the old key after it handed over',
    async (a) => {
      await handedOver(a);
      const { countersignature: _by, ...entry } = a.read(HAND_OVER);
      const to = newKey();
      const next = { ...entry, number: 5, previous_sha256: sha256(a.bytes(HAND_OVER)), hands_over_to: to.id };
      const own = readSigningKey(readFileSync(whole.key.file, 'utf8'), null, whole.key.file);
      const content = signedPart({ ...next, signature: undefined });
      a.write('ledger/00000005.json', { ...next, signature: sign(content, own), countersignature: sign(content, to) });
      a.put(`keys/${to.id}.pem`, toPem(to));
    },
    REFUTED,
  ],
];

describe.each([
  ['altered', BYTES],
  ['another one, with every digest set right', FIELDS],
  ['objects', OBJECTS],
  ['the ledger', LEDGER],
  ['hand-overs', HAND_OVERS],
  ['tokens', TOKENS],
  ['in a bundle, with every digest set right', BUNDLES],
  ['in a bundle, with every digest and signature set right', SIGNED.map(signedAnew)],
  ['versions', VERSIONS],
])('%s', (group, rows) => {
  test.concurrent.each(someRows(rows, ([words, , , kind]) => kind ?? words))('%s', async (words, change, code) => {
    const folder = join(copies, sha256(group + words).slice(0, 8));
    cpSync(whole.folder, folder, { recursive: true });
    await change(new Altered(folder));
    const [one, other] = await Promise.all([ours(folder), theDocuments(folder)]);
    expect({ ours: one.code, theirs: other.code }, `${one.said}\n${other.said}`).toEqual({ ours: code, theirs: code });
    rmSync(folder, { recursive: true, force: true });
  });
});

/** Hands the archive's key over to a new key. */
async function handedOver(archive: Altered, to: SigningKey = newKey()): Promise<void> {
  const directory = await openDirectoryArchive(archive.root, { create: false });
  const signingKey = readSigningKey(readFileSync(whole.key.file, 'utf8'), null, whole.key.file);
  await handOver(directory, to, new Date(), { signingKey, publicKeys: [] });
}

/** Hands the archive's key over, with the entry signed by another key. */
function countersignedBy(
  key: (own: SigningKey, to: SigningKey) => { signature?: SigningKey; countersignature?: SigningKey },
): Row[1] {
  return async (archive) => {
    const [own, to] = [readSigningKey(readFileSync(whole.key.file, 'utf8'), null, whole.key.file), newKey()];
    await handedOver(archive, to);
    const signed = signedPart(archive.read(HAND_OVER));
    for (const [name, by] of Object.entries(key(own, to)))
      archive.edit(HAND_OVER, (entry) => (entry[name].sig = sign(signed, by).sig));
  };
}

function both(place: (month: string, name: string) => string, name: string): [string, string] {
  return [place(FIRST, name), place(SECOND, name)];
}

function linked(archive: Altered, key: string): void {
  archive.move(key, `${key}.moved`);
  archive.link(key, `${key}.moved`);
}

function swapRuns(archive: Altered): void {
  archive.swap(...both(run, 'run.json'));
  archive.recompute();
}

function renumbered(archive: Altered): void {
  archive.remove('ledger/00000002.json', `runs/${SECOND}`);
  archive.move('ledger/00000003.json', 'ledger/00000002.json');
  archive.edit('ledger/00000002.json', (entry) => (entry.number = 2));
  archive.recompute();
}

/** Removes the newest runs; no signature shows that they existed. */
function rolledBack(archive: Altered): void {
  archive.remove('ledger/00000003.json', 'ledger/00000002.json', `runs/${SECOND}`);
}

function forked(archive: Altered): void {
  const entry = archive.read('ledger/00000003.json');
  archive.write('ledger/00000004.json', { ...entry, number: 4 });
}

function unsigned(archive: Altered, keys: readonly string[]): void {
  for (const key of keys) archive.edit(key, (entry) => delete entry.signature);
  archive.recompute();
}

/** Abandons the newest run as a holder of the key can: the run was never recorded, and was then given up. */
function abandoned(archive: Altered): void {
  const [first, entry] = [archive.read('ledger/00000001.json'), archive.read('ledger/00000003.json')];
  archive.remove('ledger/00000003.json');
  archive.write('ledger/00000002.json', { ...entry, number: 2, abandons: SECOND, heads: first.heads });
  archive.resign(readSigningKey(readFileSync(whole.key.file, 'utf8'), null, whole.key.file));
}

/** Removes a stream of the preceding run, and keeps only the statement about the stream. */
function withoutStream(archive: Altered, told: { failed?: string[]; excluded?: string[] }): void {
  archive.editRun(SECOND, (record) => {
    const [stream] = record.streams.splice(1, 1);
    archive.remove(stream.bundle.key, stream.record.key);
    const { stream_id } = stream;
    record.failed = (told.failed ?? []).map((reason) => ({ stream_id, code: 'service', reason, next_step: '' }));
    record.excluded = (told.excluded ?? []).map((pattern) => ({ stream_id, pattern }));
    const [failed, excluded] = [record.failed.length, record.excluded.length];
    Object.assign(record.reconciliation, { listed: 1 + failed + excluded, exported: 1, failed, excluded });
    if (failed + excluded > 0) return;
    record.stream_list.streams = record.stream_list.streams.filter((one: Json) => one.stream_id !== stream_id);
    record.stream_list.pages[0].streams = 1;
  });
}

interface Stamp {
  over?: string | Buffer;
  by?: Authority;
  signedWith?: Authority;
}

function tokenAt(minutes: number, over: string | Buffer, { by = pinned, signedWith = by }: Stamp): Buffer {
  const genTime = genTimeAt(new Date(Date.now() + minutes * 60_000).toISOString().replace(/\.\d+/, ''));
  const imprint = Buffer.from(sha256(over), 'hex');
  return forge(by.signer, { imprint, genTime, status: statusInfo(0), signedWith: signedWith.signer.key });
}

function stamped(archive: Altered, minutes: number, stamp: Stamp = {}): void {
  const over = stamp.over ?? archive.bytes(run(SECOND, 'run.json'));
  archive.put(run(SECOND, 'run.tsr'), tokenAt(minutes, over, stamp));
}

async function stampedByOther(archive: Altered, stamp: Stamp = {}): Promise<void> {
  stamped(archive, 0, { ...stamp, by: await newAuthority('Somebody else') });
}

/** Adds a renewal at its place, and its record, which no key signs. */
function renewed(archive: Altered, minutes: number): void {
  const [first, second] = [run(FIRST, 'run.tsr'), run(FIRST, 'run.2.tsr')];
  const token = tokenAt(minutes, Buffer.concat([archive.bytes(run(FIRST, 'run.json')), archive.bytes(first)]), {});
  archive.put(second, token);
  const record = archive.find(run(FIRST, 'hold-log'), '-restamp.json');
  archive.edit(record, (restamp) => (restamp.token.sha256 = sha256(token)));
}

function edited(slug: string, path: string, change: (document: Json) => void): Row[1] {
  return (archive) => archive.editBundle(SECOND, stream(SECOND, `${slug}.zip`), inFile(path, change));
}

function rebagged(change: (files: BagFiles) => unknown, slug = LOGINS): Row[1] {
  return (archive) => archive.editBundle(SECOND, stream(SECOND, `${slug}.zip`), (files) => void change(files));
}

/** Signs the changed archive again, without a new timestamp. */
function signedAnew([words, change, ...more]: Row): Row {
  const signed = async (archive: Altered) => {
    await change(archive);
    archive.remove(run(SECOND, 'run.tsr'));
    archive.editRun(SECOND, (record) => (record.timestamp_authority = null));
    archive.resign(readSigningKey(readFileSync(whole.key.file, 'utf8'), null, whole.key.file));
  };
  return [words, signed, ...more];
}

function earlier({ earlier_runs: [first] }: Json): void {
  first.entries += 1;
}

function otherToken({ checkpoints: [first, second] }: Json): void {
  first.anchor.token = second.anchor.token;
}

function swapTokens(files: BagFiles): void {
  const [one, other] = ['data/checkpoints/8.tsr', 'data/checkpoints/12.tsr'];
  const [first, second] = [files.get(one), files.get(other)];
  if (first === undefined || second === undefined) throw new Error('there are no tokens');
  files.set(one, second).set(other, first);
}

function doubled(files: BagFiles): void {
  const text = files.get('data/evidence.json')?.toString() ?? '';
  files.set('data/evidence.json', Buffer.from(text.replace('"actor":', '"actor":"nobody","actor":')));
}

/** Recomputes the archive as an attacker with the seal key can. */
async function rehashed(archive: Altered): Promise<void> {
  const change = ({ entries }: { entries: SentEntry[] }) => {
    for (const [index, entry] of entries.entries()) {
      const previous = entries[index - 1]?.hash ?? entry.prev_hash;
      entries[index] = sealed({ ...entry, prev_hash: previous, ...(index === 1 ? { actor: 'nobody' } : {}) });
    }
  };
  await edited(PAYMENTS, 'data/evidence.json', change)(archive);
}

function cutListing(files: BagFiles): void {
  const [, ...lines] = files.get('data/listing.csv')?.toString().split('\n') ?? [];
  files.set('data/listing.csv', Buffer.from(lines.join('\n')));
}

function renamed(files: BagFiles): void {
  const info = files.get('bag-info.txt')?.toString() ?? '';
  files.set(
    'bag-info.txt',
    Buffer.from(info.replace(`External-Identifier: ${SECOND}`, `External-Identifier: ${FIRST}`)),
  );
}

function reformatted(archive: Altered, keys: readonly string[]): void {
  for (const key of keys) archive.edit(key, (document) => (document.format = document.format.replace(/\d+$/, '1')));
  archive.recompute();
}
