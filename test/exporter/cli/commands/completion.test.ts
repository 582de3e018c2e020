import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../support/process.ts';

/** The sources: what is built is the same, and a shell finds it by its name. */
const PROGRAM = resolve(import.meta.dirname, '../../../../src/start/evidence.cjs');
const folder = mkdtempSync(join(tmpdir(), 'completion-'));
writeFileSync(join(folder, 'evidence'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
chmodSync(join(folder, 'evidence'), 0o755);

test.each([
  ['evidence ex', ['export', 'extend']],
  ['evidence export --per', ['--period']],
  ['evidence --vers', ['--version']],
  ['evidence verify some-fi', []],
])('bash completes %j to %j', async (line, found) => {
  const script = `PATH='${folder}':$PATH; source <(evidence completion bash); COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _evidence; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const said = await run('bash', ['-c', script], folder);
  expect(said.split('\n').filter((one) => one !== '')).toEqual(found);
});

test('each shell has a script of its own', () => {
  const scripts = ['bash', 'zsh', 'fish'].map((shell) =>
    readFileSync(resolve(import.meta.dirname, `../../../../templates/completion/${shell}`), 'utf8'),
  );
  for (const [index, script] of scripts.entries())
    expect(script).toContain(`evidence completion ${['bash', 'zsh', 'fish'][index]} --line`);
});
