/** Text as one word of a command that a person types (POSIX.1-2017, Shell Command Language, 2.2.2). */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
