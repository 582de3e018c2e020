import { EvidenceError } from '../errors.ts';
import { find, type Program } from './command-table.ts';
import { helpOn } from './help.ts';
import { renderMarkdown } from './markdown.ts';
import type { Printer } from './printer.ts';
import type { Topic } from './topics.ts';
import { didYouMean, isName } from './usage.ts';

/** Maximum width of running text that is easy to read. */
const WIDEST = 100;
/** Width for a pipe, and for a terminal that does not report its width. */
const USUAL_WIDTH = 80;
/** Maximum edit distance between a wrong name and a suggestion. */
const FAR = 3;

/**
 * Explains a topic or a command; if both have the name, explains both.
 * @throws EvidenceError `usage` if neither exists.
 */
export async function explain(
  name: string,
  { program, topics }: { program: Program; topics: readonly Topic[] },
  printer: Printer,
): Promise<void> {
  const found = find(program, [name]);
  const command = found.table === program ? null : { command: name, usage: helpOn(found) };
  const commands = Object.keys(program.commands);
  const topic = command === null ? await findTopic(name, topics, commands) : (topicOf(name, topics) ?? null);
  const said = { ...command, ...(topic === null ? {} : { topic: topic.name, title: topic.title, text: topic.text }) };
  printer.document('evidence-help/1', said);
  if (command !== null) printer.block(command.usage);
  if (command !== null && topic !== null) printer.result('');
  if (topic !== null) explainTopic(topic, program.name, printer);
}

function explainTopic({ text }: Topic, program: string, printer: Printer): void {
  const width = Math.min(process.stdout.columns || USUAL_WIDTH, WIDEST);
  for (const line of renderMarkdown(text, width, (target) => linkWords(target, program))) printer.result(line);
}

/** Returns a link to another topic as a command that the reader can run, and a web address unchanged. */
function linkWords(target: string, program: string): string {
  if (/^https?:/.test(target)) return target;
  const [, up, topic] = /^(\.\.\/)?([a-z-]+)\.md(?:#.*)?$/.exec(target) ?? [];
  if (topic === undefined) return '';
  return `${up === undefined ? program : 'evidence'} help ${topic}`;
}

async function findTopic(name: string, topics: readonly Topic[], commands: readonly string[]): Promise<Topic> {
  const found = topicOf(name, topics);
  if (found !== undefined) return found;
  const names = topics.map((topic) => topic.name);
  const guess = await didYouMean(name, [...names, ...commands], FAR);
  // Other input is not repeated, because it may be a misplaced secret.
  const said = isName(name) ? ` "${name}"` : '';
  throw new EvidenceError('usage', `unknown topic or command${said}`, {
    nextStep: `${guess}The topics are ${names.join(', ')}.`,
  });
}

function topicOf(name: string, topics: readonly Topic[]): Topic | undefined {
  return topics.find((topic) => topic.name === name.toLowerCase());
}
