import { z } from 'zod';
import type { Json } from '../../../core/json/canonical.ts';
import { DomainError } from '../../errors.ts';
import type { PlantedType } from '../enums.ts';
import { type MadeTrap, readOptions, type TrapInput, type TrapType } from './type.ts';

/** Environment variables of each credential. */
const LINES: Partial<Record<PlantedType, (part: { [name: string]: Json }, made: MadeTrap) => string[]>> = {
  db_connection_string: ({ url }) => [`DATABASE_URL=${url}`],
  aws_key: ({ access_key_id, secret_access_key, region }, { artifact }) => [
    `AWS_ACCESS_KEY_ID=${access_key_id}`,
    `AWS_SECRET_ACCESS_KEY=${secret_access_key}`,
    `AWS_REGION=${region}`,
    ...artifact.content
      .split('\n')
      .flatMap((line) => line.match(/^endpoint_url = .*/) ?? [])
      .map(toEndpoint),
  ],
  api_token: (_, { artifact }) => artifact.content.trimEnd().split('\n'),
  npm_token: ({ token, registry }) => [`NPM_CONFIG_REGISTRY=${registry}`, `NPM_TOKEN=${token}`],
};

const toEndpoint = (line: string) => line.replace('endpoint_url = ', 'AWS_ENDPOINT_URL=');

/**
 * Returns a settings file with several credentials, one for each listening decoy. @param typeOf returns the types of
 * its parts.
 */
export function dotenvOf(typeOf: (type: PlantedType) => TrapType): TrapType {
  return {
    type: 'dotenv',
    decoy: 'web',
    needsDecoy: false,
    needsAnyDecoy: true,
    async make(input) {
      readOptions(z.strictObject({}), input);
      const parts = await partsOf(input, typeOf);
      if (parts.length === 0)
        throw new DomainError(
          'conflict',
          'no channel would detect a use of this trap (dotenv): no decoy is configured',
        );
      const content = parts.map(({ lines }) => `${lines.join('\n')}\n`).join('\n');
      return {
        credential: Object.fromEntries(parts.map(({ type, made }) => [type, made.credential])),
        artifact: {
          filename: '.env',
          content: `NODE_ENV=production\nLOG_LEVEL=info\n\n${content}`,
          instructions:
            'Put the file next to the program in a checkout, on a server or in an image. To make it look used, set its time and owner to those of the files around it.',
        },
        marks: parts.flatMap(({ made }) => made.marks),
        channels: [...new Set(parts.flatMap(({ made }) => made.channels))],
        knownAs: parts.map(({ made }) => made.knownAs).join(', '),
        parts: parts.map(({ type, decoy, made }) => ({ type, decoy, channels: made.channels })),
      };
    },
  };
}

async function partsOf(input: TrapInput, typeOf: (type: PlantedType) => TrapType) {
  const parts = [];
  for (const type of Object.keys(LINES) as (keyof typeof LINES)[]) {
    const trapType = typeOf(type);
    const place =
      input.decoy?.kind === trapType.decoy ? input.decoy : input.places.find(({ kind }) => kind === trapType.decoy);
    if (!place) continue;
    const made = await trapType.make({ ...input, decoy: place });
    parts.push({ type, decoy: place.name, made, lines: LINES[type]?.(made.credential, made) ?? [] });
  }
  return parts;
}
