import { chmodSync, existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { run } from '../../../support/process.ts';

/** Program from the sources, which behaves as the built one does; the shell finds it by its name. */
const PROGRAM = resolve(import.meta.dirname, '../../../../src/start/evidence.cjs');
const folder = mkdtempSync(join(tmpdir(), 'completion-'));
writeFileSync(join(folder, 'evidence'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`);
chmodSync(join(folder, 'evidence'), 0o755);
writeFileSync(join(folder, 'some-file.zip'), '');

test.each([
  ['evidence ex', ['export', 'extend']],
  ['evidence export --per', ['--period']],
  ['evidence --vers', ['--version']],
  ['evidence verify some-fi', []],
  ['evidence help config', ['configuration']],
  ['evidence help expo', ['exporting', 'export']],
  ['evidence ledger ', ['accept', 'hand-over']],
  ['evidence runs ab', ['abandon']],
  ['evidence runs abandon ', []],
  ['evidence completion ', ['bash', 'zsh', 'fish']],
  ['evidence init --mode ', ['compliance', 'governance']],
  ['evidence keygen --type ed', ['ed25519']],
  ['evidence export --require co', ['content', 'continuity', 'completeness']],
  ['evidence verify some-file.zip --without ', ['seal']],
])('bash completes %j to %j', async (line, found) => {
  const script = `PATH='${folder}':$PATH; source <(evidence completion bash); COMP_LINE='${line}'; COMP_POINT=\${#COMP_LINE}; _evidence; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const said = await run('bash', ['-c', script], folder);
  expect(said.split('\n').filter((one) => one !== '')).toEqual(found);
});

const isInstalled = (shell: string) => (process.env['PATH'] ?? '').split(':').some((at) => existsSync(join(at, shell)));

/** Completions for zsh and fish, whose tests run only where the shells are installed. */
const TYPED: [line: string, shown: string[]][] = [
  ['evidence ex', ['export', 'extend']],
  ['evidence export --per', ['--period']],
  ['evidence export --period 2026-10 --str', ['--stream']],
  ['evidence verify some-fi', ['some-file.zip']],
];

/** Returns the completions that a shell shows for the line. */
const SHELLS: Record<string, (line: string, shown: string[]) => Promise<string>> = {
  fish: (line) => {
    const script = `set PATH '${folder}' $PATH; evidence completion fish | source; complete -C '${line}'`;
    return run('fish', ['--no-config', '-c', script], folder);
  },
  // zsh shows completions only on a terminal.
  zsh: (line, shown) => run('timeout', ['20', 'zsh', '-f', '-c', typeInZsh(line, shown)], folder),
};

function typeInZsh(line: string, shown: string[]): string {
  return `
    zmodload zsh/zpty
    export HOME='${folder}' PATH='${folder}':$PATH
    zpty shell zsh -f -i
    zpty -w shell "PS1=; autoload -Uz compinit; compinit -D -u; source <(evidence completion zsh); print REA''DY"
    zpty -r -m shell said '*READY*'
    zpty -w -n shell $'${line}\t'
    zpty -r -m shell said '*${shown.join('*')}*'
    print -r -- "$said"
    zpty -d shell`;
}

for (const [shell, complete] of Object.entries(SHELLS).filter(([name]) => isInstalled(name)))
  test.each(TYPED)(`${shell} completes %j to %j`, async (line, shown) => {
    const said = await complete(line, shown);
    for (const one of shown) expect(said).toContain(one);
  });

test('each shell has a script of its own', () => {
  const scripts = ['bash', 'zsh', 'fish'].map((shell) =>
    readFileSync(resolve(import.meta.dirname, `../../../../templates/completion/${shell}`), 'utf8'),
  );
  for (const [index, script] of scripts.entries())
    expect(script).toContain(`evidence completion ${['bash', 'zsh', 'fish'][index]} --line`);
});
