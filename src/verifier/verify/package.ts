import { verifyToken } from '../timestamp/verify.ts';
import type { VerifyOptions } from './content.ts';
import { beginPackage, judgePackage, type VerifiedPackage } from './package-content.ts';
import { type FileReadingOptions, readPackageFile } from './package-file.ts';

/** Verifies a package in a file, by itself; see `verifyPackageContent`. */
export async function verifyPackage(
  file: string,
  options: VerifyOptions & Pick<FileReadingOptions, 'threads' | 'signal'>,
): Promise<VerifiedPackage> {
  using reader = (await readPackageFile(file, () => beginPackage(options), options)).reader;
  return judgePackage(reader, options, verifyToken);
}
