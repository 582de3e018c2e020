/** Quotes text as one word of a shell command (POSIX.1-2017, Shell Command Language, 2.2.2). */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Quotes text as one word of a systemd command line (systemd.service(5), Command lines). */
export function systemdWord(text: string): string {
  const escaped = text.replaceAll('%', '%%').replaceAll('$', '$$$$');
  return /^[\w@%$+=:,./-]+$/.test(escaped) ? escaped : `"${escaped.replace(/["\\]/g, '\\$&')}"`;
}
