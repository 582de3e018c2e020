import { z } from 'zod';
import { decoyOrigin, drawGitlabToken, drawProjectUser, drawWork, trustHint } from './drawn.ts';
import { neededDecoy } from './needed-decoy.ts';
import { readOptions } from './options.ts';
import type { TrapType } from './type.ts';

const optionsSchema = z.strictObject({
  /** `group/project`, as it is to stand in the address. */
  repository: z
    .string()
    .regex(/^[\w.-]+(?:\/[\w.-]+)+$/, 'is not written group/project')
    .max(200)
    .optional(),
});

/** The address of a repository with the login to it, for the file of git's credential store. */
export const gitHttps: TrapType = {
  type: 'git_https',
  decoy: 'web',
  needsDecoy: true,
  async make(input) {
    const { repository = `platform/${drawWork()}` } = readOptions(optionsSchema, input);
    const decoy = neededDecoy(input);
    const [username, password] = [drawProjectUser(), drawGitlabToken()];
    const url = `${decoyOrigin(decoy, { name: username, password })}/${repository}.git`;
    return {
      credential: { url, username, password, repository },
      artifact: {
        filename: '.git-credentials',
        content: `${url}\n`,
        instructions: `Put the line into the file of a home folder whose git has credential.helper=store, or the address into the .git/config of a clone as its remote.${trustHint(decoy, 'set http.sslVerify=false for it in .gitconfig.')} To have it look used, let a clone beside it have this remote.`,
      },
      marks: [
        { kind: 'bearer', value: password },
        { kind: 'basic', value: username },
      ],
      channels: ['git'],
      knownAs: username,
    };
  },
};
