/**
 * Both channels of a command that runs in this process, and what was written to them so far.
 * @param onOutput is told what is written, piece by piece.
 */
export function keptOutput(onOutput: (text: string) => void = () => undefined) {
  const printed = { stdout: '', stderr: '' };
  const into = (name: keyof typeof printed) => ({
    write: (text: string) => {
      printed[name] += text;
      onOutput(text);
    },
  });
  return { printed, stdout: into('stdout'), stderr: into('stderr') };
}
