import type { Verification } from '../bundle/documents.ts';
import type { PackageExpectation } from '../chain/package.ts';
import type { ComparedSection } from '../chain/walk.ts';
import { entriesBeside } from '../claims/completeness.ts';
import { lookOut } from '../claims/past.ts';

/** Returns what the claims ask of the entries, and what the package is to be. */
export function expectationOf(stated: Verification | null, compared: readonly ComparedSection[]): PackageExpectation {
  if (stated === null) return { compared: () => compared };
  const { verdict, statement, earlier, accepted_restarts: restarts, package_period: period } = stated;
  const look = lookOut(
    () => ({ earlier, restarts }),
    period,
    () => entriesBeside(statement.head.sequence),
  );
  return {
    streamId: verdict.stream_id,
    ...(verdict.package_id === null ? {} : { packageId: verdict.package_id }),
    ...look,
    compared: (streamId) => [...look.compared(streamId), ...compared],
  };
}
