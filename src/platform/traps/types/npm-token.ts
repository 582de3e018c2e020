import { z } from 'zod';
import { authorityOf, decoyOrigin, drawNpmToken, drawServiceName, trustHint } from './drawn.ts';
import { neededDecoy } from './needed-decoy.ts';
import { readOptions } from './options.ts';
import type { TrapType } from './type.ts';

/** A token of a package registry, for the file that npm reads. */
export const npmToken: TrapType = {
  type: 'npm_token',
  decoy: 'web',
  needsDecoy: true,
  async make(input) {
    readOptions(z.strictObject({}), input);
    const decoy = neededDecoy(input);
    const [token, username] = [drawNpmToken(), drawServiceName()];
    const registry = `${decoyOrigin(decoy)}/npm/`;
    return {
      credential: { token, username, registry },
      artifact: {
        filename: '.npmrc',
        content: `registry=${registry}\n//${authorityOf(decoy)}/npm/:_authToken=${token}\n`,
        instructions: `Put the file into a home folder or beside a package.json.${trustHint(decoy, 'add the line strict-ssl=false, as many companies do.')} To have it look used, keep it with a package-lock.json of a private package.`,
      },
      marks: [
        { kind: 'bearer', value: token },
        { kind: 'basic', value: username },
      ],
      channels: ['npm'],
      knownAs: `${token.slice(0, 8)}…`,
    };
  },
};
