import { isMainThread, Worker } from 'node:worker_threads';

/**
 * For `node --import`: has a program wait for the threads that it gives ranges of a file to, until they have taken one
 * (they start too slowly to be of use for a small file), and say at its end how many stretches they have answered.
 */
if (isMainThread) {
  const { postMessage, emit } = Worker.prototype;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let stretches = 0;
  Worker.prototype.postMessage = function (this: Worker, job: { ranges: { owners: Int32Array } }, ...rest: []) {
    postMessage.call(this, job, ...rest);
    const { owners } = job.ranges;
    while (owners.every((owner) => owner < 2)) Atomics.wait(cell, 0, 0, 5);
  };
  Worker.prototype.emit = function (this: Worker, name: string, ...values: { stretch?: object }[]) {
    if (name === 'message' && values[0]?.stretch != null) stretches++;
    return emit.call(this, name, ...values);
  } as typeof emit;
  process.on('exit', () => process.stderr.write(`stretches ${stretches}\n`));
}
