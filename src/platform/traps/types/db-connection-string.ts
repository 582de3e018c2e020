import { isIPv6 } from 'node:net';
import { z } from 'zod';
import type { DecoyPlace } from '../decoys/decoy.ts';
import { pickOne, randomApplication, randomText } from '../decoys/names.ts';
import { type Artifact, readOptions, type TrapType } from './type.ts';

const optionsSchema = z.strictObject({
  /** Form of the artifact: settings of an application, or the password file of PostgreSQL clients. */
  form: z.enum(['env', 'pgpass']).default('env'),
  database: z
    .string()
    .regex(/^[a-z_][a-z0-9_]{0,62}$/)
    .optional(),
});

interface Login {
  user: string;
  password: string;
  host: string;
  port: number;
  database: string;
}

/** Login to a PostgreSQL server. A use is recognized by the user name, which cannot be guessed. */
export const dbConnectionString: TrapType = {
  type: 'db_connection_string',
  decoy: 'postgres',
  needsDecoy: true,
  async make(input) {
    const { form, database } = readOptions(optionsSchema, input);
    const application = randomApplication();
    const { host, port } = input.decoy as DecoyPlace;
    const user = `${application}_${pickOne(['app', 'rw', 'svc', 'etl'])}_${randomText(8, LETTERS)}`;
    const password = randomText(pickOne([24, 28, 32]));
    const name = database ?? pickOne([application, `${application}_prod`, `${application}_db`]);
    const login = { user, password, host, port, database: name };
    const url = toUrl(login);
    return {
      credential: { ...login, url },
      artifact: form === 'env' ? environmentFile(url) : passwordFile(login),
      marks: [{ kind: 'postgres_login', value: user }],
      channels: ['postgres'],
      knownAs: url.replace(`:${password}@`, '@'),
    };
  },
};

const LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

function toUrl({ user, password, host, port, database }: Login): string {
  const address = isIPv6(host) ? `[${host}]` : host;
  return `postgresql://${user}:${password}@${address}:${port}/${database}?sslmode=prefer`;
}

function environmentFile(url: string): Artifact {
  return {
    filename: '.env',
    content: `DATABASE_URL=${url}\n`,
    instructions:
      'Put the file, or its line, where applications keep settings: a checkout, a home folder, a CI variable, a wiki page. Set the time of the file to that of the files around it.',
  };
}

/**
 * Returns a password file, in which colons and backslashes are escaped:
 * https://www.postgresql.org/docs/15/libpq-pgpass.html
 */
function passwordFile({ host, port, database, user, password }: Login): Artifact {
  const line = [host, port, database, user, password].map((part) => String(part).replaceAll(/[\\:]/g, '\\$&'));
  return {
    filename: '.pgpass',
    content: `${line.join(':')}\n`,
    instructions:
      'Put the file into the home folder of a plausible user of psql, with mode 0600, where psql reads it. A line with the same host and user in ~/.psql_history or ~/.bash_history makes the file look used.',
  };
}
