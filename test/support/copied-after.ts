import { cpSync } from 'node:fs';
import { join, relative } from 'node:path';
import { afterEachObject } from './after-object.ts';

/** Preload for a program: copies the archive after each new object, as `kill -9` would leave it. */
const { COPIED_FROM: archive = '', COPIED_TO: copies = '' } = process.env;
afterEachObject((path) => {
  const key = relative(archive, path);
  if (!key.startsWith('..')) cpSync(archive, join(copies, encodeURIComponent(key)), { recursive: true });
});
