import { writeSample } from '../../verifier/bundle/sample.ts';

/** Writes the sample bundle to a path, so that a test can run it in another time zone. */
await writeSample(process.argv[2] ?? '');
