import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * Creates a file in a decoy's folder once: the second of two that create it at the same time takes what the first
 * one made. Nobody else can read it.
 */
export async function madeOnce(folder: string, name: string, make: () => Promise<string>): Promise<string> {
  const path = join(folder, name);
  return (await readIfThere(path)) ?? (await keep(folder, path, await make()));
}

/** Replaces what is kept. */
export async function makeAnew(folder: string, name: string, text: string): Promise<string> {
  await unlink(join(folder, name)).catch(() => {});
  return keep(folder, join(folder, name), text);
}

/** A link is made whole or not at all. */
async function keep(folder: string, path: string, text: string): Promise<string> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${randomUUID()}`);
  await writeFile(draft, text, { flag: 'wx', mode: 0o600 });
  try {
    await link(draft, path);
    return text;
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error;
    return await readFile(path, 'utf8');
  } finally {
    await unlink(draft);
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}
