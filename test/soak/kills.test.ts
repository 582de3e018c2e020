import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { uploadsIn, versionsIn } from '../support/bucket.ts';
import { DisturbedExport, newPlace } from '../support/disturbed-export.ts';
import { finish } from '../support/process.ts';
import { newPlace as newS3Place, type S3Place, serveS3 } from '../support/s3-place.ts';
import { killAtRandom } from './random-kills.ts';

const KILLS = 50;
const S3_KILLS = 20;
const MINUTES = 60_000;

let disturbed: DisturbedExport;

beforeAll(async () => {
  disturbed = await DisturbedExport.begin(6);
});
afterAll(() => disturbed.platform.stop());

test(
  `killed at ${KILLS} random moments and started again, an export ends as if nothing had happened`,
  { timeout: 20 * MINUTES },
  () =>
    killAtRandom(
      KILLS,
      disturbed.undisturbed.milliseconds,
      async () => {
        const place = newPlace();
        return { place, child: disturbed.start(place) };
      },
      (place, words) => disturbed.expectToEndWell(place, words),
    ),
);

const EXPORT = ['export', '--all-time', '--request', 'AUD-1'];
const s3 = serveS3({ payments: 20, access: 40, deploys: 60 });

async function namesIn({ bucket }: S3Place): Promise<string[]> {
  const versions = await versionsIn(s3.client, bucket);
  return versions.map(({ Key = '' }) => Key).filter((name) => !name.endsWith('/.capabilities'));
}

test(`killed at ${S3_KILLS} random moments and started again, an export writes every object to S3 once`, {
  timeout: 20 * MINUTES,
}, async () => {
  const undisturbed = await newS3Place(s3, 'lock');
  const began = performance.now();
  expect((await finish(undisturbed.start(...EXPORT))).code).toBe(0);
  const milliseconds = performance.now() - began;
  const names = await namesIn(undisturbed);
  const start = async () => {
    const place = await newS3Place(s3, 'lock');
    return { place, child: place.start(...EXPORT) };
  };
  await killAtRandom(S3_KILLS, milliseconds, start, async (place, words) => {
    const again = await place.evidence(...EXPORT);
    expect(again.code, `${words}: ${again.stderr}`).toBe(0);
    expect(await namesIn(place), words).toEqual(names);
    expect([await uploadsIn(s3.client, place.bucket), readdirSync(place.temporary)], words).toEqual([0, []]);
    const { code } = await place.evidence('verify', `s3://${place.bucket}/prod`, '--quiet');
    expect(code, words).toBe(0);
  });
});
