import { readdirSync, readFileSync } from 'node:fs';
import { packageFile } from '../../../core/install-paths.ts';
import { EXIT_CODES } from '../../../core/terminal/exit.ts';

/** Something that `evidence help` explains. */
export interface Topic {
  name: string;
  /** Its heading. */
  title: string;
  /** Markdown. */
  text: string;
}

const FOLDER = 'templates/help';

/** The topics in the order of their names: the files of `templates/help`, and the table of exit codes. */
export function readTopics(): Topic[] {
  const names = readdirSync(packageFile(FOLDER)).filter((file) => file.endsWith('.md'));
  const written = names.map((file) => ({
    name: file.slice(0, -'.md'.length),
    text: readFileSync(packageFile(`${FOLDER}/${file}`), 'utf8'),
  }));
  return [...written, { name: 'exit-codes', text: exitCodes() }]
    .map(({ name, text }) => ({ name, title: /^# (.*)$/m.exec(text)?.[1] ?? '', text }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Names and titles, as `evidence --help` ends. */
export function listOfTopics(): string {
  const topics = readTopics();
  const longest = Math.max(...topics.map(({ name }) => name.length));
  const lines = topics.map(({ name, title }) => `  ${name.padEnd(longest)}  ${title}`);
  return ['Topics, for `evidence help TOPIC`:', ...lines].join('\n');
}

function exitCodes(): string {
  const rows = EXIT_CODES.map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return ['# Exit codes', '', '| code | meaning |', '|---|---|', ...rows].join('\n');
}
