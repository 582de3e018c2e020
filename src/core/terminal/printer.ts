import { styleText } from 'node:util';
import { EvidenceError, messageOf } from '../errors.ts';
import { type Scrub, scrubber } from '../secret.ts';
import { exitCodeOfError } from './exit.ts';
import { escapeControls, escapeControlsInJson } from './visible.ts';

export interface Output {
  write(text: string): unknown;
}

/** Text that is colored on a terminal that supports colors. */
export interface Styled {
  text: string;
  style: 'green' | 'red' | 'yellow' | 'bold';
}

/** Line of output. */
export type OutputLine = string | readonly (string | Styled)[];

export function styled(text: string, style: Styled['style']): Styled {
  return { text, style };
}

/** Format at the start of every `--json` document: `evidence-`, the command, and the version of the document. */
type DocumentFormat = `evidence-${string}/${number}`;

/** Minimum length of a secret: shorter texts occur in many texts by chance. */
const LEAST_SECRET = 4;

interface PrinterOptions {
  json: boolean;
  quiet: boolean;
  verbose?: boolean;
  /** Format of stderr. */
  logFormat?: 'text' | 'json';
  /** Adds to documents of `--json`, as a replacer of `JSON.stringify` does. */
  replacer?: (name: string, value: unknown) => unknown;
  stdout?: Output;
  stderr?: Output;
}

type EventLevel = 'debug' | 'info' | 'error';

/**
 * Both output channels of a command: results on stdout, everything else on stderr. Known secrets pass neither, and no
 * printed text can control the terminal or start another line.
 */
// Over ten members: all output of a command goes through it, so that no secret passes.
export class Printer {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
  /** True if stderr has one JSON object per line. */
  readonly logsJson: boolean;
  /** Secrets from the longest down, because one may begin like another. */
  #secrets: { length: number; scrub: Scrub }[] = [];
  readonly #replacer: PrinterOptions['replacer'];
  readonly #stdout: Output;
  readonly #stderr: Output;

  constructor(options: PrinterOptions) {
    this.json = options.json;
    this.quiet = options.quiet;
    this.verbose = options.verbose ?? false;
    this.logsJson = options.logFormat === 'json';
    this.#replacer = options.replacer;
    this.#stdout = options.stdout ?? process.stdout;
    this.#stderr = options.stderr ?? process.stderr;
  }

  /** Keeps a secret out of everything that is printed from now on. */
  keepSecret(secret: string): void {
    if (secret.length < LEAST_SECRET) return;
    const kept = { length: secret.length, scrub: scrubber(secret) };
    this.#secrets = [...this.#secrets, kept].sort((one, other) => other.length - one.length);
  }

  /** Prints a line of the result for people; nothing with `--json`. */
  result(line: OutputLine): void {
    if (this.json) return;
    const pieces = typeof line === 'string' ? [line] : line;
    this.#stdout.write(`${pieces.map((piece) => this.#show(piece)).join('')}\n`);
  }

  /** Prints lines of the result whose line feeds are ours, such as a table. */
  block(text: string): void {
    for (const line of text.split('\n')) this.result(line);
  }

  /**
   * Prints the single document of `--json`.
   * @param format command's name and the version of its document; replaces a `format` in the value.
   */
  document(format: DocumentFormat, value: object): void {
    if (!this.json) return;
    const json = JSON.stringify(Object.assign({ format }, value, { format }), this.#replacer, 2);
    this.#stdout.write(`${escapeControlsInJson(this.#scrubJson(json))}\n`);
  }

  /** Prints a line on stderr. */
  note(line: string): void {
    if (!this.quiet) this.#tell(line, 'info');
  }

  /** Prints an event on stderr for programs; nothing unless stderr is JSON. */
  event(name: string, fields: Record<string, unknown>, level: EventLevel = 'info'): void {
    if (this.logsJson && !this.quiet) this.#log(level, name, fields);
  }

  /** Prints a line of detail on stderr, with `--verbose`. */
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

  /** Scrubs each JSON string separately, so that the result stays JSON. */
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

/** Returns the stack frames of a defect, without the error's message. */
function framesOf(error: unknown): string[] {
  const stack = error instanceof Error ? (error.stack ?? '') : '';
  return stack.split('\n').filter((line) => /^ +at /.test(line));
}
