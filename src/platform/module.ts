import type { ZodType } from 'zod';
import type { TableSet } from './database/table.ts';

/** Declaration of a service. A module file imports only types of its own service. */
export interface ServiceModule {
  /** Name of the service, which is the prefix of its routes. */
  name: string;
  /** Scopes `SERVICE:read`, `SERVICE:write` and narrower ones, with explanations for people. */
  scopes: Readonly<Record<`${string}:${string}`, string>>;
  /** Ids of streams that only the service writes, or prefixes of them. */
  streams?: readonly string[];
  /** Label of its alerts, for people; a service without a label sends none. */
  alerts?: string;
  tables?: TableSet;
  settings?: ServiceSettings;
  /** Codes of refusals that only this service has, with their statuses. */
  refusals?: Readonly<Record<string, number>>;
  /** Loads the code that opens the service. */
  load(): Promise<unknown>;
  /** Loads the check of the rows of the service. */
  loadCheck?(): Promise<unknown>;
}

/** Settings that a service adds to platform.yaml and to the options of a platform. */
export interface ServiceSettings {
  /** Schemas by the names of the settings in the file. */
  file: Readonly<Record<string, ZodType>>;
  /**
   * Returns the options for the settings of a file.
   * @param resolve resolves a path in the file. @throws EvidenceError `config`.
   */
  toOptions(file: object, resolve: (path: string) => string): object;
  /** Returns the settings in force as text, by their names in the file, without secrets. */
  inForce(options: object): [name: string, value: string][];
}
