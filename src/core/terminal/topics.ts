import { readdirSync, readFileSync } from 'node:fs';
import { packageFile } from '../install-paths.ts';

/** Something that `help` explains. */
export interface Topic {
  name: string;
  /** Its heading. */
  title: string;
  /** Markdown. */
  text: string;
}

/** @param folder of the package, of whose Markdown files each is a topic. @param more texts by name, beside them. */
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

/** Names and titles, as `--help` ends. */
export function listTopics(topics: readonly Topic[], program: string): string {
  const longest = Math.max(...topics.map(({ name }) => name.length));
  const lines = topics.map(({ name, title }) => `  ${name.padEnd(longest)}  ${title}`);
  return [`Topics, for \`${program} help TOPIC\`:`, ...lines].join('\n');
}
