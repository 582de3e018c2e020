import { z } from 'zod';
import { invalidField } from '../../errors.ts';
import type { DecoyPlace } from '../decoys/decoy.ts';
import { randomText } from '../decoys/names.ts';
import { decoyOrigin, drawGitlabToken, drawGrafanaToken, drawServiceName, trustHint } from './drawn.ts';
import { neededDecoy } from './needed-decoy.ts';
import { readOptions } from './options.ts';
import type { Artifact, TrapType } from './type.ts';

interface Form {
  draw(): string;
  file(decoy: DecoyPlace, token: string, name: string): Omit<Artifact, 'instructions'>;
}

/** Forms of tokens for services that companies run themselves. */
const FORMS: Record<'generic' | 'gitlab' | 'grafana', Form> = {
  generic: {
    draw: () => `tok_${randomText(40)}`,
    file: (decoy, token, name) => ({
      filename: 'config/api.env',
      content: `API_URL=${decoyOrigin(decoy, { name, password: token })}/api/v1\nAPI_TOKEN=${token}\n`,
    }),
  },
  gitlab: {
    draw: drawGitlabToken,
    file: (decoy, token) => ({
      filename: '.python-gitlab.cfg',
      content: `[global]\ndefault = internal\n\n[internal]\nurl = ${decoyOrigin(decoy)}\nprivate_token = ${token}\napi_version = 4\n`,
    }),
  },
  grafana: {
    draw: drawGrafanaToken,
    file: (decoy, token) => ({
      filename: 'grafana.env',
      content: `GRAFANA_URL=${decoyOrigin(decoy)}\nGRAFANA_SERVICE_ACCOUNT_TOKEN=${token}\n`,
    }),
  },
};

const optionsSchema = z.strictObject({
  form: z.string().max(40).default('generic'),
});

/** The token of an API that answers behind the decoy. */
export const apiToken: TrapType = {
  type: 'api_token',
  decoy: 'web',
  needsDecoy: true,
  async make(input) {
    const form = formOf(readOptions(optionsSchema, input).form);
    const decoy = neededDecoy(input);
    const [token, username] = [form.draw(), drawServiceName()];
    return {
      credential: { token, username, url: `${decoyOrigin(decoy)}/api/v1` },
      artifact: {
        ...form.file(decoy, token, username),
        instructions: `Put the file where the settings of a program lie, or its lines into one that is there.${trustHint(decoy, 'name it as one that clients do not check.')} To have it look used, name it in the documentation of that program.`,
      },
      marks: [
        { kind: 'bearer', value: token },
        { kind: 'basic', value: username },
      ],
      channels: ['http'],
      knownAs: `${token.slice(0, 8)}…`,
    };
  },
};

/** @throws DomainError `invalid_request`, also for tokens that lead to somebody else. */
function formOf(name: string): Form {
  if (Object.hasOwn(FORMS, name)) return FORMS[name as keyof typeof FORMS];
  throw invalidField(
    'options.form',
    `"${name}" is not made here. A token of a service that others run, such as GitHub or Slack, would be used there, and nobody would see it: take one of ${Object.keys(FORMS).join(', ')}`,
  );
}
