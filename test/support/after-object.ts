import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/**
 * Calls a function in this process after each object enters a directory archive.
 * @param act receives the object's path.
 */
export function afterEachObject(act: (path: string) => void): void {
  const { link } = fs;
  fs.link = async (existing, name) => {
    await link(existing, name);
    act(String(name));
  };
  syncBuiltinESMExports();
}

/** Calls a function after objects whose path ends with a pattern; never without a pattern. */
export function afterObjects(ending: string | undefined, act: () => void): void {
  if (ending === undefined) return;
  const pattern = new RegExp(`${ending}$`);
  afterEachObject((path) => {
    if (pattern.test(path)) act();
  });
}
