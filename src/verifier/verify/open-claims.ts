import type { Verification } from '../bundle/documents.ts';
import type { ClaimName } from '../claims/claim.ts';
import type { Verdict } from '../claims/verdict.ts';
import type { SealKeys } from '../model/entry.ts';
import type { Contract } from '../reading/contract.ts';
import type { OpenClaims } from './contradictions.ts';

interface Reader {
  contract: Contract;
  options: { sealKeys: SealKeys; acceptUnhashed?: readonly string[] };
  /** True if the bundle is not what it was, so that its forms are not compared. */
  isAltered: boolean;
  /** True if it holds a PDF that is not read here. */
  withoutPdf: boolean;
}

/** Claims that the reader of a bundle cannot judge as who exported it could. */
export function openClaims(
  stated: Verification,
  ours: Verdict,
  { contract, options, isAltered, withoutPdf }: Reader,
): OpenClaims {
  const byTrust: ClaimName[] = ['seal', 'anchor', ...(contract.hasKeyedDigests ? BY_KEYED_DIGESTS : [])];
  // The service's own verdict is compared with these: who sees other ones compares it otherwise.
  const differs = (['content', 'seal'] as const).some(
    (name) => byTrust.includes(name) && stated.verdict.claims[name].state !== ours.claims[name].state,
  );
  // A PDF only refutes: who does not read it cannot find what it refuted.
  const byPdf = withoutPdf && stated.verdict.claims.agreement.state === 'refuted';
  return {
    byTrust: differs || byPdf ? [...byTrust, 'agreement'] : byTrust,
    unproved: [
      ...(isAltered ? ['agreement' as const] : []),
      // Without the keys that digests are made with, they do not tell what they told who had the keys.
      ...(stated.verdict.digests_bind && !ours.digests_bind ? ['continuity' as const] : []),
      ...(wasTrustedMore(stated, options) ? ['content' as const] : []),
    ],
  };
}

const BY_KEYED_DIGESTS: readonly ClaimName[] = ['content', 'continuity'];

/** Reports whether the exporter had keys, or accepted what digests leave out, and the reader has not. */
function wasTrustedMore({ seal_key_ids, accepted_unhashed }: Verification, options: Reader['options']): boolean {
  const { sealKeys, acceptUnhashed = [] } = options;
  return (
    seal_key_ids.some((id) => !sealKeys.has(id)) || accepted_unhashed.some((name) => !acceptUnhashed.includes(name))
  );
}
