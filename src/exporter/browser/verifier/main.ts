import '../stand-ins/dispose.ts';
import { z } from 'zod';
import { messageOf } from '../../../core/errors.ts';
import type { Reply, VerifierRequest } from '../messages.ts';
import { verifyBlob } from './verify.ts';

// Otherwise it tries out whether code may be made from text, which the page's policy forbids.
z.config({ jitless: true });

/** Between two reports of progress, so that the page has time to draw. Milliseconds. */
const PAUSE = 50;

self.addEventListener('message', async ({ data }: MessageEvent<VerifierRequest>) => {
  const reply = (message: Reply) => self.postMessage(message);
  let last = 0;
  try {
    const result = await verifyBlob(data.file, data.file.name, new Date(data.now), (share) => {
      const now = performance.now();
      if (now - last < PAUSE) return;
      last = now;
      reply({ kind: 'progress', share });
    });
    reply({ kind: 'result', result });
  } catch (error) {
    reply({ kind: 'failure', message: messageOf(error) });
  }
});
