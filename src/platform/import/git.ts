import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { EvidenceError } from '../../core/errors.ts';
import type { ImportTally } from './result.ts';
import { type ImportedEntry, toField, toStreamId } from './service.ts';

/** Maximum number of files of one folder listed for a commit; all files are counted. */
const MAX_FILES = 200;
/** Message of git outside of any checkout, in the language selected below. */
const NO_REPOSITORY = /^not a git repository/;
const MAX_MESSAGE_BYTES = 4096;

/**
 * Field that starts every commit. At this position git otherwise writes a status letter, and paths only follow status
 * letters, so no content can be mistaken for the mark.
 */
const COMMIT_MARK = '\u0001commit';
const FIELDS = ['%H', '%P', '%aI', '%ae', '%an', '%ce', '%s'] as const;
const LOG_ARGUMENTS = [
  '-c',
  'log.showRoot=true',
  '--no-pager',
  'log',
  '--reverse',
  '--no-show-signature',
  '--no-ext-diff',
  '--no-renames',
  // Changes of a merge are those against all its parents; changes that it only brought over belong to the merged
  // commits.
  '--diff-merges=combined',
  '--name-status',
  '-z',
  `--format=tformat:%x01commit%x00${FIELDS.join('%x00')}%x00`,
];

interface Commit {
  sha: string;
  parents: string[];
  authoredAt: string;
  author: string;
  committer: string;
  subject: string;
  files: { status: string; path: string }[];
}

/**
 * Yields the history of the checkout that contains `directory`, oldest first: one entry per commit and top-level folder
 * that it changed. A missing checkout or a refusal by git becomes a note, not an error.
 */
export async function* gitCommits(directory: string, tally: ImportTally): AsyncGenerator<ImportedEntry> {
  const git = startGit(directory, LOG_ARGUMENTS);
  for await (const commit of parseLog(fieldsOf(git.output))) {
    if (commit.files.length === 0) tally.skip('commits that change no files (clean merges, empty commits)');
    yield* toEntries(commit);
  }
  const refusal = await git.ended;
  if (refusal !== undefined && NO_REPOSITORY.test(refusal))
    tally.note('No git history: this folder is not in a git checkout');
  else if (refusal !== undefined) tally.note(`No further git history: ${refusal}`);
  else if (await isShallow(directory)) {
    tally.note('The checkout is shallow: its oldest commits appear to create all files.');
  }
}

interface GitProcess {
  output: AsyncIterable<Buffer>;
  /** Error message of git, if it failed. */
  ended: Promise<string | undefined>;
}

function startGit(directory: string, gitArguments: readonly string[]): GitProcess {
  const child = spawn('git', gitArguments, {
    cwd: directory,
    env: gitEnvironment(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let message = '';
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text: string) => {
    message = (message + text).slice(0, MAX_MESSAGE_BYTES);
  });
  const ended = once(child, 'close').then(
    ([code]) =>
      code === 0
        ? undefined
        : message
            .trim()
            .split('\n')[0]
            ?.replace(/^fatal: /, '') || `git ended with status ${code}`,
    (error: Error) => `git could not be started (${error.message})`,
  );
  return { output: child.stdout, ended };
}

/**
 * Returns the environment without variables of a calling git, such as in a hook, which would point to another
 * repository.
 */
function gitEnvironment(): NodeJS.ProcessEnv {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'));
  return { ...Object.fromEntries(inherited), LC_ALL: 'C' };
}

async function isShallow(directory: string): Promise<boolean> {
  const git = startGit(directory, ['rev-parse', '--is-shallow-repository']);
  const chunks: Buffer[] = [];
  for await (const chunk of git.output) chunks.push(chunk);
  return (await git.ended) === undefined && Buffer.concat(chunks).toString().trim() === 'true';
}

/** Splits the output at NUL. Bytes that are not UTF-8 become U+FFFD. */
async function* fieldsOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let pending: Buffer[] = [];
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(0); end !== -1; end = chunk.indexOf(0, start)) {
      pending.push(chunk.subarray(start, end));
      yield Buffer.concat(pending).toString('utf8');
      pending = [];
      start = end + 1;
    }
    pending.push(chunk.subarray(start));
  }
}

async function* parseLog(fields: AsyncGenerator<string>): AsyncGenerator<Commit> {
  const next = async (): Promise<string> => {
    const { done, value } = await fields.next();
    if (done === true) throw new EvidenceError('unreadable', 'the output of git log ends within a commit');
    return value;
  };
  let commit: Commit | undefined;
  for (let step = await fields.next(); step.done !== true; step = await fields.next()) {
    const field = step.value.trimStart();
    if (field === COMMIT_MARK) {
      if (commit !== undefined) yield commit;
      commit = await readCommit(next);
    } else if (field !== '' && commit !== undefined) {
      commit.files.push({ status: field, path: await next() });
    }
  }
  if (commit !== undefined) yield commit;
}

async function readCommit(next: () => Promise<string>): Promise<Commit> {
  const sha = await next();
  const parents = (await next()).split(' ').filter((parent) => parent !== '');
  const authoredAt = await next();
  const email = await next();
  const name = await next();
  return { sha, parents, authoredAt, author: email || name, committer: await next(), subject: await next(), files: [] };
}

function* toEntries(commit: Commit): Generator<ImportedEntry> {
  for (const [folder, files] of Map.groupBy(commit.files, ({ path }) => topFolder(path))) {
    yield {
      stream_id: toStreamId(`git/${folder}`),
      actor: toField(commit.author),
      action: 'commit',
      resource_type: 'git.tree',
      resource_id: toField(folder),
      metadata: {
        commit: commit.sha,
        parents: commit.parents,
        committer: commit.committer,
        subject: commit.subject,
        file_count: files.length,
        files: files.slice(0, MAX_FILES),
      },
      // Omits a time that RFC 3339 cannot express, because git accepts any number.
      ...(Number.isNaN(Date.parse(commit.authoredAt)) ? {} : { occurred_at: commit.authoredAt }),
      idempotency_key: `git:${commit.sha}:${folder}`,
    };
  }
}

function topFolder(path: string): string {
  const end = path.indexOf('/');
  return end === -1 ? '(root)' : path.slice(0, end);
}
