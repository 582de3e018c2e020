import type { Description } from '../../verifier/profile/description.ts';
import { DEFAULT_DESCRIPTION } from '../../verifier/reading/default-contract.ts';
import type { Hints } from '../openapi.ts';
import type { Reasoning } from '../report.ts';
import type { Ask } from '../sample/sample.ts';

const USUAL_PATH = '/streams/{stream_id}/verify';

/** Infers the service's own check. A probe never runs it, so its answer is known from OpenAPI or not at all. */
export async function inferVerify(
  ask: Ask,
  hints: Hints,
  streamId: string,
  reasoning: Reasoning,
): Promise<Description['verify']> {
  const { verify } = hints;
  if (verify !== null && verify.fields.verified !== null) {
    reasoning.found('verify', `POST ${verify.path}`, 'OpenAPI describes it; it was not run');
    return { path: verify.path, body: {}, fields: { ...verify.fields, verified: verify.fields.verified } };
  }
  const path = verify?.path ?? USUAL_PATH;
  const answer = await ask({ url: path.replace('{stream_id}', encodeURIComponent(streamId)) });
  if (verify !== null || answer.status === 405) {
    const how = verify === null ? 'a GET there is answered "method not allowed"' : 'OpenAPI names it';
    reasoning.found('verify', `POST ${path}`, `${how}; it was not run, so its answer is NOT SEEN`);
    return {
      path,
      body: {},
      fields: DEFAULT_DESCRIPTION.verify?.fields ?? {
        verified: 'verified',
        checked_at: null,
        failures: null,
        failure_sequence: null,
      },
    };
  }
  const why = `${hints.isOffered ? 'OpenAPI describes none, and' : 'there is no OpenAPI document, and'} GET ${path} answers ${answer.status}`;
  reasoning.lacks('verify', why, "the vendor's verdict cannot be compared; describe the operation if there is one");
  return null;
}
