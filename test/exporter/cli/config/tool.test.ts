import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { readCommit } from '../../../../src/exporter/cli/config/tool.ts';

test('in a checkout the tool names its commit, and that files differ where they do', () => {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8' }).trim();
  const isDirty = git('status', '--porcelain', '--untracked-files=no') !== '';
  expect(readCommit()).toBe(`${git('rev-parse', 'HEAD')}${isDirty ? '-dirty' : ''}`);
});
