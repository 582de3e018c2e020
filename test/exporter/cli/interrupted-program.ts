import { onInterruption } from '../../../src/exporter/cli/interruption.ts';

/** Works until it is interrupted, then ends as its argument says: at once, or never. */
const interruption = onInterruption();
const working = setInterval(() => {}, 1000);
interruption.signal.addEventListener('abort', () => {
  const { code, nextStep } = interruption.signal.reason;
  process.stdout.write(`${JSON.stringify({ code, nextStep, exitCode: interruption.exitCode() })}\n`);
  if (process.argv[2] === 'stubborn') return;
  clearInterval(working);
  interruption.dispose();
  process.exitCode = interruption.exitCode() ?? 1;
});
process.stdout.write(`${JSON.stringify({ exitCode: interruption.exitCode() })}\n`);
