import { PackageReader, type PackageReading } from '../chain/package.ts';
import { DEFAULT_REQUIRED } from '../claims/claim.ts';
import { toContractFile } from '../claims/content.ts';
import { examine } from '../claims/examine.ts';
import { toVerdict, type Verdict } from '../claims/verdict.ts';
import { type ContractInUse, DEFAULT_IN_USE } from '../contract/in-use.ts';
import type { VerifyOptions } from './content.ts';
import { type ContractUse, toContractUse } from './contract-use.ts';
import { readPackageFile } from './package-file.ts';

/**
 * Verifies the JSON form of a package by itself, stream by stream: what it says of its own streams is all there is to
 * go by.
 */
export async function verifyPackage(
  file: string,
  options: VerifyOptions & { threads: number | null; signal?: AbortSignal },
): Promise<{ verdicts: Verdict[]; contract: ContractUse }> {
  const inUse = options.contract ?? DEFAULT_IN_USE;
  const begin = () => new PackageReader(inUse.contract, options.sealKeys);
  const { reader } = await readPackageFile(file, begin, options);
  const verdicts = reader.finishEach().map((reading) => judge(reading, inUse, options));
  return { verdicts, contract: toContractUse(inUse, 'reader') };
}

function judge(
  reading: PackageReading,
  { contract, file }: Pick<ContractInUse, 'contract' | 'file'>,
  options: VerifyOptions,
): Verdict {
  const examination = examine(
    {
      reading,
      summary: null,
      vendor: null,
      earlier: [],
      period: { from: null, to: null },
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
    options.required ?? DEFAULT_REQUIRED,
  );
  return toVerdict(reading, examination);
}
