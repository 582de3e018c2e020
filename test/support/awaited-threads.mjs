import { isMainThread, MessagePort, Worker } from 'node:worker_threads';

/**
 * For `node --import`: has a program wait for the threads that it gives ranges of a file to, until they have taken one
 * (they start too slowly to be of use for a small file), and say at its end how many segments they have answered.
 *
 * JavaScript, because what removes types would take more memory in each thread than all that is measured.
 */
if (isMainThread) {
  const { postMessage } = Worker.prototype;
  const { on } = MessagePort.prototype;
  const cell = new Int32Array(new SharedArrayBuffer(4));
  let segments = 0;
  Worker.prototype.postMessage = function (question, ...rest) {
    postMessage.call(this, question, ...rest);
    const { owners } = question.request.ranges;
    while (owners.every((owner) => owner < 2)) Atomics.wait(cell, 0, 0, 5);
  };
  MessagePort.prototype.on = function (name, listener) {
    if (name === 'message')
      on.call(this, name, ({ value }) => {
        if (value?.decoded != null) segments++;
      });
    return on.call(this, name, listener);
  };
  process.on('exit', () => process.stderr.write(`segments ${segments}\n`));
}
