import { readdirSync, readFileSync } from 'node:fs';
import { packageFile } from '../install-paths.ts';

/** Topic that `help` explains. */
export interface Topic {
  name: string;
  /** Heading of the text. */
  title: string;
  /** Markdown. */
  text: string;
}

/** @param folder folder of the package in which each Markdown file is a topic. @param more further texts by name. */
export function topicsIn(folder: string, more: Readonly<Record<string, string>> = {}): Topic[] {
  const files = readdirSync(packageFile(folder)).filter((file) => file.endsWith('.md'));
  const written = files.map((file) => [
    file.slice(0, -'.md'.length),
    readFileSync(packageFile(`${folder}/${file}`), 'utf8'),
  ]);
  return [...written, ...Object.entries(more)]
    .map(([name = '', text = '']) => ({ name, title: /^# (.*)$/m.exec(text)?.[1] ?? '', text }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));
}

/** Lists names and titles, for the end of `--help`. */
export function listTopics(topics: readonly Topic[], program: string): string {
  const longest = Math.max(...topics.map(({ name }) => name.length));
  const lines = topics.map(({ name, title }) => `  ${name.padEnd(longest)}  ${title}`);
  return [`Topics, for \`${program} help TOPIC\`:`, ...lines].join('\n');
}
