import { PackageReader, type PackageReading } from '../chain/package.ts';
import { DEFAULT_REQUIRED } from '../claims/claim.ts';
import { toContractFile } from '../claims/content.ts';
import { examine } from '../claims/examine.ts';
import { type Known, observe } from '../claims/observe.ts';
import { toVerdict, type Verdict } from '../claims/verdict.ts';
import { type ContractInUse, DEFAULT_IN_USE, withoutProgram } from '../reading/in-use.ts';
import { verifyToken } from '../timestamp/verify.ts';
import type { VerifyOptions } from './content.ts';
import { type ContractUse, toContractUse } from './contract-use.ts';
import { type FileReadingOptions, readPackageFile } from './package-file.ts';

/**
 * Verifies the JSON form of a package by itself, stream by stream: what it says of its own streams is all there is to
 * go by.
 */
export async function verifyPackage(
  file: string,
  options: VerifyOptions & Pick<FileReadingOptions, 'threads' | 'signal'>,
): Promise<{ verdicts: Verdict[]; contract: ContractUse }> {
  const chosen = options.contract ?? DEFAULT_IN_USE;
  const inUse = options.referenceAlone === true ? withoutProgram(chosen) : chosen;
  const begin = () => new PackageReader(inUse.contract, options.sealKeys);
  using reader = (await readPackageFile(file, begin, options)).reader;
  const verdicts = await Promise.all(reader.finishEach().map((reading) => judge(reading, inUse, options)));
  return { verdicts, contract: toContractUse(inUse, 'reader') };
}

/** Nothing is known of it besides: neither what was exported before, nor what the service says elsewhere. */
const KNOWN: Known = {
  vendor: null,
  earlier: null,
  period: { from: null, to: null },
  statedHead: null,
  statedCount: null,
  restarts: [],
  completeness: { kind: 'none', why: 'a package by itself shows nothing to hold it against' },
};

async function judge(
  reading: PackageReading,
  { contract, file }: Pick<ContractInUse, 'contract' | 'file'>,
  { required = DEFAULT_REQUIRED, acceptUnhashed = [], ...options }: VerifyOptions,
): Promise<Verdict> {
  const contractFile = toContractFile(file, 'reader');
  const means = { ...options, contract, contractFile, acceptUnhashed, readPdf: null, verifyToken };
  const observations = await observe(
    reading,
    { summary: null, pdf: null, isShort: false, isAltered: false },
    KNOWN,
    means,
  );
  return toVerdict(reading, examine(observations, required));
}
