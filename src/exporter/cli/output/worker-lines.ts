import { plural } from '../../../core/plurals.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import type { Listener } from '../../export/events.ts';

/** Tells on stderr what a worker does: a line for every stream that ends, and for every run that it concludes. */
export function tellAsWorker(printer: Printer): Listener {
  if (printer.logsJson) return () => {};
  return (event) => {
    switch (event.type) {
      case 'finished':
        printer.note(
          `${event.streamId}: ${event.partial ? 'PARTIAL, ' : ''}${event.status}, ${plural(event.entries, 'entry')}`,
        );
        break;
      case 'failed':
        printer.note(`${event.streamId}: FAILED: ${event.reason}`);
        break;
      case 'step-failed':
        printer.detail(`${event.streamId}: ${event.step}: ${event.message}`);
        break;
      case 'finalized':
        printer.note(`Run ${event.runId} is finalized: ${event.outcome}.`);
        break;
      default:
    }
  };
}
