import type { Texts } from '../../src/exporter/report/view/texts.ts';
import { makeRunView, type RunView } from '../../src/exporter/report/view/view.ts';
import type { RunRecord } from '../../src/verifier/records/record.ts';

/** Makes the view of a run synchronously. */
export function toRunView(record: RunRecord, finalized: boolean, texts: Texts): RunView {
  const making = makeRunView(record, finalized ? 'run' : 'attempt', texts);
  for (;;) {
    const step = making.next();
    if (step.done === true) return step.value;
  }
}
