import type { Verification } from './documents.ts';
import type { BagStatus } from './layout.ts';
import { describePeriod } from './period.ts';

/** The fields of `bag-info.txt` that follow from what the bundle says elsewhere. */
export function bagInfo(
  { tool, run_id, period, verdict }: Pick<Verification, 'tool' | 'run_id' | 'period' | 'verdict'>,
  status: BagStatus,
): [label: string, value: string][] {
  const { stream_id: streamId } = verdict;
  return [
    ['Bag-Software-Agent', `${tool.name} ${tool.version}`],
    ['External-Identifier', `${run_id}/${streamId}`],
    ['External-Description', `Audit evidence of the stream ${streamId}, ${describePeriod(period)}`],
    ['Evidence-Status', status],
  ];
}
