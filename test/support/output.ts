/**
 * Returns both output channels for a command in this process, and the output so far.
 * @param onOutput receives each piece of output.
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
