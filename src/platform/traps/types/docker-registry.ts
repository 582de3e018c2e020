import { z } from 'zod';
import { authorityOf, drawGitlabToken, drawProjectUser } from './drawn.ts';
import { neededDecoy } from './needed-decoy.ts';
import { readOptions } from './options.ts';
import type { TrapType } from './type.ts';

/** The login to a registry of images, for the file that Docker, podman, skopeo and Kubernetes read. */
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
        // As `kubectl create secret docker-registry` writes it.
        content: `${JSON.stringify({ auths: { [registry]: { username, password, auth } } }, null, '\t')}\n`,
        instructions:
          'Put the file into a home folder, an image, or a secret of the type kubernetes.io/dockerconfigjson. To have it look used, name an image of this registry in a manifest beside it.',
      },
      marks: [
        { kind: 'bearer', value: password },
        { kind: 'basic', value: username },
      ],
      channels: ['registry'],
      knownAs: username,
    };
  },
};
