import { PackageReader, type PackageReading } from '../chain/package.ts';
import type { ClaimName } from '../claims/claim.ts';
import { toContractFile } from '../claims/content.ts';
import { examine } from '../claims/examine.ts';
import { toVerdict, type Verdict } from '../claims/verdict.ts';
import { type ContractInUse, DEFAULT_IN_USE } from '../contract/in-use.ts';
import type { VerifyOptions } from './content.ts';
import { readPackageFile } from './package-file.ts';

/**
 * Verifies the JSON form of a package by itself, stream by stream: what it says of its own streams is all there is to
 * go by.
 */
export async function verifyPackage(
  file: string,
  options: VerifyOptions & { threads: number | null; signal?: AbortSignal },
  required: readonly ClaimName[],
): Promise<Verdict[]> {
  const inUse = options.contract ?? DEFAULT_IN_USE;
  const begin = () => new PackageReader(inUse.contract, options.sealKeys);
  const { reader } = await readPackageFile(file, begin, options);
  return reader.finishEach().map((reading) => judge(reading, inUse, options, required));
}

function judge(
  reading: PackageReading,
  { contract, file }: ContractInUse,
  options: VerifyOptions,
  required: readonly ClaimName[],
): Verdict {
  const examination = examine(
    {
      reading,
      summary: null,
      vendor: null,
      earlier: null,
      reachesNow: false,
      fromStart: false,
      statedHead: null,
      restart: null,
      completeness: { kind: 'none', why: 'a package by itself shows nothing to hold it against' },
      roots: options.roots,
      now: options.now,
      sealKeysGiven: options.sealKeys.size > 0,
      contract,
      contractFile: toContractFile(file, 'reader'),
      acceptUnhashed: options.acceptUnhashed ?? [],
    },
    required,
  );
  return toVerdict(reading, examination);
}
