/** Both channels of a command that runs in this process, and what was written to them so far. */
export function keptOutput() {
  const printed = { stdout: '', stderr: '' };
  const into = (name: keyof typeof printed) => ({
    write: (text: string) => {
      printed[name] += text;
    },
  });
  return { printed, stdout: into('stdout'), stderr: into('stderr') };
}
