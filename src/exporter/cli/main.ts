import { nameCrashes } from '../../core/terminal/crash.ts';

nameCrashes('evidence');

const [{ evidence }, { onInterruption }] = await Promise.all([import('./evidence.ts'), import('./interruption.ts')]);

// npm runs scripts in the package's folder, but relative paths refer to the user's folder.
const { npm_lifecycle_event: script, INIT_CWD: userFolder } = process.env;
if ((script === 'evidence' || script === 'start') && userFolder !== undefined) process.chdir(userFolder);

const interruption = onInterruption();
try {
  process.exitCode = await evidence(process.argv.slice(2), {
    directory: process.cwd(),
    environment: process.env,
    stdout: process.stdout,
    stderr: process.stderr,
    interruption,
  });
} finally {
  interruption.dispose();
}
