import { writeSample } from '../../verifier/bundle/sample.ts';

/** Writes the sample bundle to the path given, so that a test can see it made in another time zone. */
await writeSample(process.argv[2] ?? '');
