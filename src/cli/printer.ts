import { EvidenceError, messageOf } from '../errors.ts';
import { exitCodeOfError } from './exit.ts';

export interface Output {
  write(text: string): unknown;
}

/** The two channels of a command: results on stdout, everything else on stderr. Secrets that it knows pass neither. */
export class Printer {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly #secrets: string[] = [];
  readonly #stdout: Output;
  readonly #stderr: Output;

  constructor(options: { json: boolean; quiet: boolean; stdout?: Output; stderr?: Output }) {
    this.json = options.json;
    this.quiet = options.quiet;
    this.#stdout = options.stdout ?? process.stdout;
    this.#stderr = options.stderr ?? process.stderr;
  }

  /** Whatever is printed from now on, this is not in it. */
  keepSecret(secret: string): void {
    if (secret.length < 4) return;
    // As JSON it may be written otherwise; and of two secrets, one may begin like the other.
    this.#secrets.push(secret, JSON.stringify(secret).slice(1, -1));
    this.#secrets.sort((one, other) => other.length - one.length);
  }

  /** A result for people; nothing with `--json`. */
  result(text: string): void {
    if (!this.json) this.#stdout.write(`${this.scrub(text)}\n`);
  }

  /** The one document of `--json`. */
  document(value: unknown): void {
    if (this.json) this.#stdout.write(`${this.scrub(JSON.stringify(value, null, 2))}\n`);
  }

  note(text: string): void {
    if (!this.quiet) this.#stderr.write(`${this.scrub(text)}\n`);
  }

  /** What went wrong and what to do now, on stderr, and as the document with `--json`. */
  failure(error: unknown): void {
    const code = error instanceof EvidenceError ? error.code : 'defect';
    const nextStep = error instanceof EvidenceError ? error.nextStep : undefined;
    const what =
      code === 'defect' && error instanceof Error
        ? `a defect in this program: ${error.stack ?? error.message}`
        : messageOf(error);
    this.#stderr.write(`${this.scrub(`evidence: ${what}${nextStep === undefined ? '' : `\n${nextStep}`}`)}\n`);
    this.document({
      outcome: 'error',
      exit_code: exitCodeOfError(error),
      error: { code, message: messageOf(error), next_step: nextStep ?? null },
    });
  }

  scrub(text: string): string {
    let clean = text;
    for (const secret of this.#secrets) clean = clean.replaceAll(secret, '***');
    return clean;
  }
}
