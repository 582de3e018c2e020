import { closest, distance } from 'fastest-levenshtein';
import { EvidenceError } from '../../../core/errors.ts';
import { renderMarkdown } from '../../../core/terminal/markdown.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import { commandsIn } from '../../../core/terminal/usage.ts';
import type { Command } from '../command.ts';
import { readTopics, type Topic } from '../output/topics.ts';
import type { HelpFlags } from './help-flags.ts';

/** As wide as running text is read with ease. */
const WIDEST = 100;
/** For a pipe, and for a terminal that does not say how wide it is. */
const USUAL_WIDTH = 80;
/** Letters that a wrong name may differ in from the one that was meant. */
const FAR = 3;

/**
 * `evidence help NAME`: a topic or a command. Without a name, the parser shows what `--help` does.
 * @param helpOn the flags and the examples of a command; of the program for null.
 */
export function explainWith(helpOn: (command: string | null) => Promise<string>): Command<HelpFlags> {
  return async ({ topic: name = '' }, { printer }) => {
    const commands = commandsIn(await helpOn(null), 'evidence');
    if (commands.includes(name)) explainCommand(name, await helpOn(name), printer);
    else explain(findTopic(name, readTopics(), commands), printer);
    return 0;
  };
}

function explainCommand(command: string, text: string, printer: Printer): void {
  printer.document('evidence-help/1', { command, text });
  printer.block(text);
}

function explain({ name, title, text }: Topic, printer: Printer): void {
  printer.document('evidence-help/1', { topic: name, title, text });
  const width = Math.min(process.stdout.columns || USUAL_WIDTH, WIDEST);
  for (const line of renderMarkdown(text, width, linkWords)) printer.result(line);
}

/** A link to another topic is a command for whoever reads it here; an address stands as it is. */
function linkWords(target: string): string {
  if (/^https?:/.test(target)) return target;
  const topic = /^([a-z-]+)\.md(#.*)?$/.exec(target)?.[1];
  return topic === undefined ? '' : `evidence help ${topic}`;
}

function findTopic(name: string, topics: readonly Topic[], commands: readonly string[]): Topic {
  const found = topics.find((topic) => topic.name === name.toLowerCase());
  if (found !== undefined) return found;
  const names = topics.map((topic) => topic.name);
  const nearest = closest(name.toLowerCase(), [...names, ...commands]);
  const meant = distance(name.toLowerCase(), nearest) <= FAR ? `Did you mean ${nearest}? ` : '';
  // Whatever else was typed there may be a secret in a wrong place.
  const said = /^[A-Za-z][A-Za-z-]{0,23}$/.test(name) ? ` "${name}"` : ' of that name';
  throw new EvidenceError('usage', `there is no topic and no command${said}`, {
    nextStep: `${meant}The topics are ${names.join(', ')}.`,
  });
}
