import { styleText } from 'node:util';
import { EvidenceError, messageOf } from '../errors.ts';
import { type Scrub, scrubber } from '../secret.ts';
import { exitCodeOfError } from './exit.ts';
import { escapeControls, escapeControlsInJson } from './visible.ts';

export interface Output {
  write(text: string): unknown;
}

/** Text that is coloured where it goes to a terminal that wants colours. */
export interface Styled {
  text: string;
  style: 'green' | 'red' | 'yellow' | 'bold';
}

/** One line of output. */
export type OutputLine = string | readonly (string | Styled)[];

export function styled(text: string, style: Styled['style']): Styled {
  return { text, style };
}

/** Every document of `--json` begins with one: `evidence-`, the command, and the version of its form. */
type DocumentFormat = `evidence-${string}/${number}`;

/** The shortest secret: shorter texts occur in many a text by chance. */
const LEAST_SECRET = 4;

interface PrinterOptions {
  json: boolean;
  quiet: boolean;
  verbose?: boolean;
  /** Format of stderr. */
  logFormat?: 'text' | 'json';
  stdout?: Output;
  stderr?: Output;
}

type EventLevel = 'debug' | 'info' | 'error';

/**
 * The two channels of a command: results on stdout, everything else on stderr. Secrets that it knows pass neither, and
 * whatever it is given, nothing of it steers the terminal or begins a line of its own.
 */
// Over ten members: all that a command says goes through it, so that no secret does.
export class Printer {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** Everything on stderr is one JSON object a line. */
  readonly logsJson: boolean;
  /** The longest secret first: of two, one may begin like the other. */
  #secrets: { length: number; scrub: Scrub }[] = [];
  readonly #stdout: Output;
  readonly #stderr: Output;

  constructor(options: PrinterOptions) {
    this.json = options.json;
    this.quiet = options.quiet;
    this.verbose = options.verbose ?? false;
    this.logsJson = options.logFormat === 'json';
    this.#stdout = options.stdout ?? process.stdout;
    this.#stderr = options.stderr ?? process.stderr;
  }

  /** Whatever is printed from now on, this is not in it. */
  keepSecret(secret: string): void {
    if (secret.length < LEAST_SECRET) return;
    const kept = { length: secret.length, scrub: scrubber(secret) };
    this.#secrets = [...this.#secrets, kept].sort((one, other) => other.length - one.length);
  }

  /** A line of the result for people; nothing with `--json`. */
  result(line: OutputLine): void {
    if (this.json) return;
    const pieces = typeof line === 'string' ? [line] : line;
    this.#stdout.write(`${pieces.map((piece) => this.#show(piece)).join('')}\n`);
  }

  /** Lines of the result whose line feeds are ours, as those of a table are. */
  block(text: string): void {
    for (const line of text.split('\n')) this.result(line);
  }

  /**
   * The one document of `--json`.
   * @param format its name, and the version of its form: the command's. What the value says of a format is replaced.
   */
  document(format: DocumentFormat, value: object): void {
    if (!this.json) return;
    const json = JSON.stringify(Object.assign({ format }, value, { format }), null, 2);
    this.#stdout.write(`${escapeControlsInJson(this.#scrubJson(json))}\n`);
  }

  /** A line on stderr. */
  note(line: string): void {
    if (!this.quiet) this.#tell(line, 'info');
  }

  /** An event on stderr, for programs that read it: nothing unless that is JSON. */
  event(name: string, fields: Record<string, unknown>, level: EventLevel = 'info'): void {
    if (this.logsJson && !this.quiet) this.#log(level, name, fields);
  }

  /** A line on stderr for whoever wants to see how it goes in detail: `--verbose`. */
  detail(line: string): void {
    if (this.verbose) this.#tell(line, 'debug');
  }

  /** Prints an error and the next step on stderr, and as the document with `--json`. */
  failure(error: unknown): void {
    const message = messageOf(error);
    const [code, nextStep] = error instanceof EvidenceError ? [error.code, error.nextStep ?? null] : ['defect', null];
    const name = code === 'defect' && error instanceof Error ? `a defect in this program: ${error.name}: ` : '';
    const frames = code === 'defect' ? framesOf(error) : [];
    if (this.logsJson) {
      const fields = { code, message: `${name}${message}`, next_step: nextStep, exit_code: exitCodeOfError(error) };
      this.#log('error', 'failure', frames.length === 0 ? fields : { ...fields, frames });
    } else {
      this.#tell(`evidence: ${name}${message}`, 'error');
      if (nextStep !== null) this.#tell(nextStep, 'error');
      for (const frame of frames) this.#tell(frame, 'error');
    }
    this.#documentFailure(error, code, nextStep);
  }

  scrub(text: string): string {
    return this.#secrets.reduce((clean, { scrub }) => scrub(clean), text);
  }

  /** Text by text, so that it stays JSON. */
  #scrubJson(json: string): string {
    if (this.scrub(json) === json) return json;
    return json.replace(/"(?:[^"\\]|\\.)*"/g, (text) => JSON.stringify(this.scrub(JSON.parse(text))));
  }

  #documentFailure(error: unknown, code: string, nextStep: string | null): void {
    this.document('evidence-error/1', {
      outcome: 'error',
      exit_code: exitCodeOfError(error),
      error: { code, message: messageOf(error), next_step: nextStep },
    });
  }

  #tell(line: string, level: EventLevel): void {
    if (this.logsJson) this.#log(level, 'note', { message: line.trim() });
    else this.#stderr.write(`${this.#show(line)}\n`);
  }

  #log(level: EventLevel, event: string, fields: Record<string, unknown>): void {
    const json = JSON.stringify({ time: new Date().toISOString(), level, event, ...fields });
    this.#stderr.write(`${escapeControlsInJson(this.#scrubJson(json))}\n`);
  }

  #show(piece: string | Styled): string {
    if (typeof piece === 'string') return escapeControls(this.scrub(piece));
    const text = this.#show(piece.text);
    return this.#stdout === process.stdout ? styleText(piece.style, text, { stream: process.stdout }) : text;
  }
}

/** The place of a defect, without the error's own words. */
function framesOf(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return stack.split('\n').filter((line) => /^ +at /.test(line));
}
