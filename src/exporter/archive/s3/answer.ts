import { Readable, Transform } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { EvidenceError } from '../../../core/errors.ts';

/** A page of a listing is the largest answer there is that is not an object: a thousand names of at most 3 KB. */
const MAX_ANSWER_BYTES = 16 * 2 ** 20;

/** Ends an answer that is read into memory as a whole when it is longer than any should be. */
export function boundAnswers(client: S3Client): void {
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const result = await next(args);
      const response = result.response as { statusCode: number; body: unknown };
      const streamed = context.commandName === 'GetObjectCommand' && response.statusCode < 300;
      if (!streamed && response.body instanceof Readable) response.body = bounded(response.body);
      return result;
    },
    // The last before the wire, so the first to see what comes from there.
    { step: 'deserialize', name: 'boundAnswers', priority: 'low' },
  );
}

function bounded(body: Readable): Readable {
  let bytes = 0;
  const limit = new Transform({
    transform(block: Buffer, _encoding, done) {
      bytes += block.length;
      if (bytes <= MAX_ANSWER_BYTES) return done(null, block);
      done(
        new EvidenceError('archive', `the store gave an answer of more than ${MAX_ANSWER_BYTES} bytes`, {
          nextStep: 'Check that archive.endpoint is the address of an S3 store.',
        }),
      );
      body.destroy();
    },
  });
  // Not `pipeline`: the SDK destroys what it has read, and that is no failure.
  body.on('error', (error) => limit.destroy(error));
  return body.pipe(limit);
}
