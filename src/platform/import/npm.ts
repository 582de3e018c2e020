import { readFile, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { z } from 'zod';
import { EvidenceError, messageOf } from '../../core/errors.ts';
import type { ImportTally } from './result.ts';
import { type ImportedEntry, toField } from './service.ts';

const MAX_LOCKFILE_BYTES = 64 * 1024 * 1024;

/** npm's record of the packages in `node_modules`, without `resolved`, which may contain a private host or a path. */
const lockfileSchema = z.looseObject({
  packages: z.record(
    z.string(),
    z.looseObject({
      /** Name, if the package is installed under another one. */
      name: z.string().optional(),
      version: z.string().optional(),
      integrity: z.string().optional(),
      dev: z.boolean().optional(),
      link: z.boolean().optional(),
    }),
  ),
});

/**
 * Yields the packages that npm installed in `directory`, or else in the installation of this program. The time is that
 * of npm's last change to the whole tree, because npm stores none per package.
 */
export async function* npmInstalls(directory: string, tally: ImportTally): AsyncGenerator<ImportedEntry> {
  const lockfile = await findLockfile(directory);
  if (lockfile === undefined) {
    tally.note('No packages installed by npm were found.');
    return;
  }
  const { packages } = await readLockfile(lockfile.path);
  const occurredAt = lockfile.modifiedAt.toISOString();
  for (const [path, { name, version, integrity, dev, link }] of Object.entries(packages)) {
    if (link === true || version === undefined) {
      tally.skip('folders that npm linked instead of installing');
      continue;
    }
    const installed = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    yield {
      stream_id: 'npm',
      actor: 'npm',
      action: 'package.install',
      resource_type: 'npm.package',
      resource_id: toField(`${name ?? installed}@${version}`),
      metadata: {
        path,
        ...(integrity === undefined ? {} : { integrity }),
        dev: dev ?? false,
        occurred_at_is: 'last change of node_modules/.package-lock.json',
      },
      occurred_at: occurredAt,
      idempotency_key: `npm:${path}:${integrity ?? version}`,
    };
  }
}

interface Lockfile {
  path: string;
  modifiedAt: Date;
}

async function findLockfile(directory: string): Promise<Lockfile | undefined> {
  const there = await lockfileIn(resolve(directory));
  if (there !== undefined) return there;
  let folder = import.meta.dirname;
  for (;;) {
    const found = await lockfileIn(folder);
    if (found !== undefined) return found;
    if (dirname(folder) === folder) return undefined;
    folder = dirname(folder);
  }
}

async function lockfileIn(folder: string): Promise<Lockfile | undefined> {
  const path = join(folder, 'node_modules', '.package-lock.json');
  try {
    const { mtime, size } = await stat(path);
    if (size > MAX_LOCKFILE_BYTES) throw new EvidenceError('unreadable', `${path} is larger than 64 MiB`);
    return { path, modifiedAt: mtime };
  } catch (error) {
    if (error instanceof EvidenceError) throw error;
    return undefined;
  }
}

async function readLockfile(path: string): Promise<z.infer<typeof lockfileSchema>> {
  try {
    return lockfileSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (cause) {
    throw new EvidenceError('unreadable', `${path} is not an npm lockfile: ${messageOf(cause)}`, { cause });
  }
}
