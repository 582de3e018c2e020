import { z } from 'zod';
import {
  authorityOf,
  decoyOrigin,
  drawGitlabToken,
  drawNpmToken,
  drawProjectUser,
  drawServiceName,
  drawWork,
  loginMarks,
  trustHint,
} from './drawn.ts';
import { neededDecoy, readOptions, type TrapType } from './type.ts';

/** Token of a package registry, in the file that npm reads. */
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
        instructions: `Put the file into a home folder or next to a package.json.${trustHint(decoy, 'add the line strict-ssl=false, as many companies do.')} To make it look used, keep it with a package-lock.json of a private package.`,
      },
      marks: loginMarks(token, username),
      channels: ['npm'],
      knownAs: `${token.slice(0, 8)}…`,
    };
  },
};

/** Login to a container registry, in the file that Docker, podman, skopeo and Kubernetes read. */
export const dockerRegistry: TrapType = {
  type: 'docker_registry',
  decoy: 'web',
  needsDecoy: true,
  async make(input) {
    readOptions(z.strictObject({}), input);
    const registry = authorityOf(neededDecoy(input));
    const [username, password] = [drawProjectUser(), drawGitlabToken()];
    const auth = Buffer.from(`${username}:${password}`).toString('base64');
    return {
      credential: { registry, username, password },
      artifact: {
        filename: '.docker/config.json',
        // Same form as `kubectl create secret docker-registry` writes.
        content: `${JSON.stringify({ auths: { [registry]: { username, password, auth } } }, null, '\t')}\n`,
        instructions:
          'Put the file into a home folder, an image, or a secret of the type kubernetes.io/dockerconfigjson. To make it look used, refer to an image of this registry in a manifest next to it.',
      },
      marks: loginMarks(password, username),
      channels: ['registry'],
      knownAs: username,
    };
  },
};

const gitOptions = z.strictObject({
  /** Path `group/project` in the address. */
  repository: z
    .string()
    .regex(/^[\w.-]+(?:\/[\w.-]+)+$/, 'must have the form group/project')
    .max(200)
    .optional(),
});

/** Address of a repository with its login, in the file of git's credential store. */
export const gitHttps: TrapType = {
  type: 'git_https',
  decoy: 'web',
  needsDecoy: true,
  async make(input) {
    const { repository = `platform/${drawWork()}` } = readOptions(gitOptions, input);
    const decoy = neededDecoy(input);
    const [username, password] = [drawProjectUser(), drawGitlabToken()];
    const url = `${decoyOrigin(decoy, { name: username, password })}/${repository}.git`;
    return {
      credential: { url, username, password, repository },
      artifact: {
        filename: '.git-credentials',
        content: `${url}\n`,
        instructions: `Put the line into the file in a home folder where git uses credential.helper=store, or set the address as a remote in the .git/config of a clone.${trustHint(decoy, 'set http.sslVerify=false for it in .gitconfig.')} To make it look used, set this remote in a clone next to it.`,
      },
      marks: loginMarks(password, username),
      channels: ['git'],
      knownAs: username,
    };
  },
};
