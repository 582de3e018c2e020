import type { RunRecord } from '../../../verifier/records/record.ts';

/** A next step of who exported, and what it is about. */
export interface Advice {
  step: string;
  about: string[];
  /** The number of the others. */
  others: number;
}

const NAMED = 6;

/** Each step once, with what it is about. */
export function toAdvice({ failed, streams, vanished, ended }: RunRecord): Advice[] {
  const steps = [
    ...failed.map(({ stream_id, next_step }) => ({ step: next_step, about: `${stream_id}: not exported` })),
    ...[...[...vanished, ...ended].map(({ finding }) => finding), ...streams.flatMap(({ findings }) => findings)].map(
      ({ stream_id, code, next_step }) => ({ step: next_step, about: `${stream_id}: ${code}` }),
    ),
  ];
  return [...Map.groupBy(steps, ({ step }) => step)].map(([step, all]) => {
    const about = [...new Set(all.map((one) => one.about))];
    return { step, about: about.slice(0, NAMED), others: Math.max(0, about.length - NAMED) };
  });
}
