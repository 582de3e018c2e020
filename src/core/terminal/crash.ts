/** Exit codes of all programs. */
export const INCOMPLETE = 3;
export const DEFECT = 70;

/**
 * Ends the program with an exit code of the table after an error outside of a command; Node's own code, 1, would say
 * that evidence is refuted.
 *
 * If the reader closes the pipe early, as `head` does, the command continues silently. If the result cannot be written
 * for another reason, e.g. on a full disk, the command is incomplete.
 *
 * @param program name by which the user calls it.
 */
export function nameCrashes(program: 'evidence' | 'evidence-platform' | 'evidence-sensor'): void {
  process.on('uncaughtException', (error) => {
    say(program, `a defect in this program: ${error.stack ?? error}`);
    process.exit(DEFECT);
  });
  process.stderr.on('error', () => undefined);
  let isSaid = false;
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE' || isSaid) return;
    isSaid = true;
    say(program, `the result cannot be written to stdout: ${error.message}`);
    process.once('exit', (code) => {
      if (code === 0) process.exitCode = INCOMPLETE;
    });
  });
}

/** Reports whether a command line or its environment requests a log in JSON. Accepts invalid command lines. */
export function asksForJsonLog(words: readonly string[], environment: NodeJS.ProcessEnv): boolean {
  return /--log-format[= ]json/.test(words.join(' ')) || environment['EVIDENCE_LOG_FORMAT'] === 'json';
}

/** Writes to stderr, in the requested log format. */
function say(program: string, message: string): void {
  const isJson = asksForJsonLog(process.argv, process.env);
  const failure = { time: new Date().toISOString(), level: 'error', event: 'failure', message };
  process.stderr.write(isJson ? `${JSON.stringify(failure)}\n` : `${program}: ${message}\n`);
}
