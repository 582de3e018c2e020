/** Styles of the word for a stream or a run. */
export const OUTCOME_STYLES = {
  verified: 'green',
  collected: 'yellow',
  refuted: 'red',
  incomplete: 'yellow',
  empty: 'yellow',
  recorded: 'yellow',
} as const;
