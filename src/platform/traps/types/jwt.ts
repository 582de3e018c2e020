import { createHmac, randomBytes, randomInt, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { randomText } from '../decoys/names.ts';
import { decoyOrigin, drawServiceName, trustHint } from './drawn.ts';
import { neededDecoy } from './needed-decoy.ts';
import { readOptions } from './options.ts';
import type { TrapType } from './type.ts';

const optionsSchema = z.strictObject({
  audience: z
    .string()
    .regex(/^[\w.:/-]{1,100}$/, 'has other characters than letters, digits and _.:/-')
    .default('api'),
  /** The validity of the token itself; the trap stays one. */
  valid_days: z.int().min(1).max(3650).default(1825),
});
const DAY_S = 24 * 60 * 60;

/** A JSON Web Token with the client that it was issued to. */
export const jwt: TrapType = {
  type: 'jwt',
  decoy: 'web',
  needsDecoy: true,
  async make(input) {
    const { audience, valid_days } = readOptions(optionsSchema, input);
    const decoy = neededDecoy(input);
    const [client, secret, jti] = [drawServiceName(), randomText(40), randomUUID()];
    const iat = Math.floor(input.now.getTime() / 1000) - randomInt(DAY_S, 20 * DAY_S);
    const claims = { iss: decoyOrigin(decoy), sub: client, aud: audience, iat, exp: iat + valid_days * DAY_S, jti };
    const token = signed({ ...claims, scope: 'read write' });
    const origin = decoyOrigin(decoy, { name: client, password: secret });
    return {
      credential: { token, jti, client_id: client, client_secret: secret },
      artifact: {
        filename: 'config/service.env',
        content: `OAUTH_TOKEN_URL=${origin}/oauth/token\nAPI_URL=${decoyOrigin(decoy)}/api/v1\nAPI_ACCESS_TOKEN=${token}\n`,
        instructions: `Put the file where the settings of a program lie, or its lines into one that is there.${trustHint(decoy, 'name it as one that clients do not check.')} The token is sent as "Authorization: Bearer".`,
      },
      marks: [
        { kind: 'bearer', value: token },
        { kind: 'bearer', value: secret },
        { kind: 'token_id', value: jti },
        { kind: 'basic', value: client },
      ],
      channels: ['http'],
      knownAs: `jti ${jti}`,
    };
  },
};

/** RFC 7519, by HS256. Nobody keeps the key: a token is recognised as a whole. */
function signed(claims: object): string {
  const [header, payload] = [{ alg: 'HS256', typ: 'JWT' }, claims].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  );
  const signature = createHmac('sha256', randomBytes(32)).update(`${header}.${payload}`).digest('base64url');
  return `${header}.${payload}.${signature}`;
}
