import { statSync } from 'node:fs';
import { nameCrashes } from '../../core/terminal/crash.ts';

nameCrashes('evidence');

// A large package is read by several threads, which take as long to start as the command takes to load. What the words
// mean is not known yet: where one is taken wrongly for a package, a thread was started in vain.
const [command, ...words] = process.argv.slice(2);
if (command === 'verify' && !words.some((word) => word.startsWith('--threads'))) {
  const bytes = Math.max(0, ...words.filter((word) => !/\.(zip|age)$/i.test(word)).map(sizeOfFile));
  if (bytes > 0) (await import('../../verifier/verify/package-file.ts')).startThreadsFor(bytes);
}

// The young generation grows by 30 MB while code is loaded, and never shrinks. Where little is to be done after that, to
// hold it from here on would take longer than it.
if (command === 'export' || command === 'share') (await import('./heap.ts')).holdHeap(100);

// Nothing is left to do then. Node would free its memory piece by piece, which takes 10 ms.
process.once('beforeExit', () => process.exit());

await import('./commands.ts');

/** 0 for what is no file. */
function sizeOfFile(path: string): number {
  try {
    const found = statSync(path);
    return found.isFile() ? found.size : 0;
  } catch {
    return 0;
  }
}
