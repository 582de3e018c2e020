import fs from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

/** Does something in this process each time an object has come into a directory archive. @param act is given its path. */
export function afterEachObject(act: (path: string) => void): void {
  const { link } = fs;
  fs.link = async (existing, name) => {
    await link(existing, name);
    act(String(name));
  };
  syncBuiltinESMExports();
}

/** The same for objects whose path ends as a pattern; for none where there is no pattern. */
export function afterObjects(ending: string | undefined, act: () => void): void {
  if (ending === undefined) return;
  const pattern = new RegExp(`${ending}$`);
  afterEachObject((path) => {
    if (pattern.test(path)) act();
  });
}
