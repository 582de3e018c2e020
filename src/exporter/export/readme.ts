import type { Verdict } from '../../verifier/claims/verdict.ts';
import type { ContractWords } from '../../verifier/reading/contract.ts';
import type { Received } from './receive.ts';

const MAX_FINDINGS = 100;

const FORM_WORDS = {
  json: 'the entries, exactly as the service sent them',
  pdf: 'a document of the entries, as the service sent it; it may show only some of them',
  summary: 'a summary, as the service sent it',
} as const;

/** Lists the forms in the bundle, and marks those that arrived only in part. */
function formsIn({ files }: Received): [path: string, words: string][] {
  return files.map(({ form, path, sha256 }) => [
    path,
    sha256 === null ? `the part of the ${form} form that arrived` : FORM_WORDS[form],
  ]);
}

/** Lists the recorded and occurred times of the first and last entry. */
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

/** Returns the facts for a bundle's README.txt besides the claims. */
export function toReadmeFacts(received: Received, verdict: Verdict, fields: ContractWords['fields']) {
  const { findings } = verdict;
  return {
    forms: formsIn(received),
    facts: factsIn(verdict, fields),
    findings: findings.slice(0, MAX_FINDINGS).map(({ severity, code, message }) => ({
      severity,
      code,
      // Replaces line breaks, so that text from outside cannot begin a line.
      message: message.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' '),
    })),
    moreFindings: Math.max(0, findings.length - MAX_FINDINGS),
  };
}
