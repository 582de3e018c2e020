import { createHash } from 'node:crypto';
import { access, constants, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../../core/json/canonical.ts';
import { readInflated, readLines } from './lines.ts';
import type { ImportTally } from './result.ts';
import { type ImportedEntry, toField } from './service.ts';

const MAX_LINE_BYTES = 64 * 1024;

type Told = Pick<ImportedEntry, 'action' | 'resource_type' | 'resource_id'> & { details: { [name: string]: Json } };

/**
 * Yields the events of Debian's package log with its rotations in `folder`, oldest first. Times are local times of this
 * machine.
 */
export async function* dpkgEvents(folder: string, tally: ImportTally): AsyncGenerator<ImportedEntry> {
  const logs = await findLogs(folder);
  if (logs.length === 0) tally.note(`No readable dpkg log in ${folder}.`);
  const ordinal = ordinalsWithinASecond();
  for (const log of logs) {
    for await (const { text } of readLines(log, readInflated(log), MAX_LINE_BYTES)) {
      const entry = toEntry(text, ordinal);
      if (entry !== undefined) yield entry;
      else if (text.trim() !== '') tally.skip('lines of the dpkg log with an unknown format');
    }
  }
}

async function findLogs(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const rotated = names.flatMap((name) => {
    const match = /^dpkg\.log(?:\.(\d+)(?:\.gz)?)?$/.exec(name);
    return match === null ? [] : [{ path: join(folder, name), age: Number(match[1] ?? 0) }];
  });
  const readable: string[] = [];
  for (const { path } of rotated.sort((a, b) => b.age - a.age)) {
    const allowed = await access(path, constants.R_OK).then(
      () => true,
      () => false,
    );
    if (allowed) readable.push(path);
  }
  return readable;
}

/**
 * Returns a function that numbers equal lines from 0, because dpkg logs the same state of a package repeatedly. Equal
 * lines have the same second, so only one second is remembered.
 */
function ordinalsWithinASecond(): (second: string, line: string) => number {
  let current = '';
  let seen = new Map<string, number>();
  return (second, line) => {
    if (second !== current) {
      current = second;
      seen = new Map();
    }
    const ordinal = seen.get(line) ?? 0;
    seen.set(line, ordinal + 1);
    return ordinal;
  };
}

function toEntry(line: string, ordinal: (second: string, line: string) => number): ImportedEntry | undefined {
  const match = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d) (\S+) (.+)$/.exec(line);
  const [, date, time, verb, rest] = match ?? [];
  if (date === undefined || time === undefined || verb === undefined || rest === undefined) return undefined;
  const told = tell(verb, rest.split(' '));
  const happened = new Date(`${date}T${time}`);
  if (told === undefined || Number.isNaN(happened.getTime())) return undefined;
  const { details, ...acted } = told;
  const key = createHash('sha256')
    .update(`${line}\n${ordinal(`${date} ${time}`, line)}`)
    .digest('hex');
  return {
    stream_id: 'dpkg',
    actor: 'dpkg',
    action: toField(acted.action),
    resource_type: acted.resource_type,
    resource_id: toField(acted.resource_id),
    metadata: { ...details, line: line.toWellFormed() },
    occurred_at: happened.toISOString(),
    idempotency_key: `dpkg:${key}`,
  };
}

/** Reads the line forms of dpkg(1), option `--log`. */
function tell(verb: string, words: readonly string[]): Told | undefined {
  const [first = '', second = '', third = ''] = words;
  const action = `package.${verb}`;
  if (verb === 'startup')
    return { action: 'dpkg.startup', resource_type: 'dpkg.run', resource_id: words.join(' '), details: {} };
  if (verb === 'conffile')
    return { action: 'conffile.decision', resource_type: 'file', resource_id: first, details: { decision: second } };
  if (verb === 'status' && words.length === 3)
    return { action, resource_type: 'deb.package', resource_id: `${second} ${third}`, details: { status: first } };
  if (words.length === 3) {
    // `remove` and `purge` have the installed version, followed by `<none>` or the same version.
    const version = verb === 'install' || verb === 'upgrade' ? third : second;
    const details = { installed_before: second, available: third };
    return { action, resource_type: 'deb.package', resource_id: `${first} ${version}`, details };
  }
  return undefined;
}
