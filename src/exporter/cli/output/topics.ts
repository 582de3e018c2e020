import { EXIT_CODES } from '../../../core/terminal/exit.ts';
import { listTopics, type Topic, topicsIn } from '../../../core/terminal/topics.ts';

/** Returns the topics in the order of their names: the files of `templates/help`, and the table of exit codes. */
export function readTopics(): Topic[] {
  return topicsIn('templates/help', { 'exit-codes': exitCodes() });
}

export function listOfTopics(): string {
  return listTopics(readTopics(), 'evidence');
}

function exitCodes(): string {
  const rows = EXIT_CODES.map(([code, meaning]) => `| ${code} | ${meaning} |`);
  return ['# Exit codes', '', '| code | meaning |', '|---|---|', ...rows].join('\n');
}
