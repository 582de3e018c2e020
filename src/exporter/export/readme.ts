import type { Verdict } from '../../verifier/claims/verdict.ts';
import type { ContractWords } from '../../verifier/reading/contract.ts';
import type { Received } from './receive.ts';

const MAX_FINDINGS = 100;

const FORM_WORDS = {
  json: 'the entries, exactly as the service sent them',
  pdf: 'a document of them as the service sent it: it may show only a part',
  summary: 'a summary as the service sent it',
} as const;

/** Lists the forms in the bundle that the service sent, and those of which there is only a part. */
function formsIn({ files }: Received): [path: string, words: string][] {
  return files.map(({ form, path, sha256 }) => [
    path,
    sha256 === null ? `what arrived of the ${form} form, not all of it` : FORM_WORDS[form],
  ]);
}

/** The times of the first and the last entry, and when the stream was received. */
function factsIn(verdict: Verdict, fields: ContractWords['fields']): [label: string, text: string][] {
  const { first_recorded_at: from, last_recorded_at: to, first_occurred_at, last_occurred_at } = verdict;
  const span = (label: string, field: string | null | undefined, first: string | null, last: string | null) =>
    first === null || last === null || field == null
      ? []
      : [[label, `${first} (first entry), ${last} (last entry), by the field ${field}`] as [string, string]];
  return [
    ...span('Recorded', fields.timestamp, from, to),
    ...span('Happened', fields.occurred_at, first_occurred_at, last_occurred_at),
  ];
}

/** Returns what the README.txt of a bundle says of its evidence besides the claims. */
export function toReadmeFacts(received: Received, verdict: Verdict, fields: ContractWords['fields']) {
  const { findings } = verdict;
  return {
    forms: formsIn(received),
    facts: factsIn(verdict, fields),
    findings: findings.slice(0, MAX_FINDINGS).map(({ severity, code, message }) => ({
      severity,
      code,
      // Text of others cannot begin a line of its own.
      message: message.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '),
    })),
    moreFindings: Math.max(0, findings.length - MAX_FINDINGS),
  };
}
