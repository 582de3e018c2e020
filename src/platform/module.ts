import type { ZodType } from 'zod';
import type { TableSet } from './database/table.ts';

/** All that is said of a service in one place. Its own files import nothing of it but types. */
export interface ServiceModule {
  /** Its routes stand under it. */
  name: string;
  /** `SERVICE:read`, `SERVICE:write` and narrower ones, with what each gives, for people. */
  scopes: Readonly<Record<`${string}:${string}`, string>>;
  /** Streams that the service writes, or beginnings of their ids; nobody else appends to them. */
  streams?: readonly string[];
  /** Label of its alerts, for people; a service without one sends none. */
  alerts?: string;
  tables?: TableSet;
  settings?: ServiceSettings;
  /** Codes of refusals that no other service has, with their statuses. */
  refusals?: Readonly<Record<string, number>>;
  /** Loads the code of the service: a function that opens it. */
  load(): Promise<unknown>;
}

/** Settings that a service adds to platform.yaml and to the options of a platform. */
export interface ServiceSettings {
  /** Schemas by the names of the settings in the file. */
  file: Readonly<Record<string, ZodType>>;
  /**
   * Returns the options that the settings of a file stand for.
   * @param resolve resolves a path in the file. @throws EvidenceError `config`.
   */
  toOptions(file: object, resolve: (path: string) => string): object;
  /** Returns the settings in force as text, by their names in the file. Secrets are left out. */
  inForce(options: object): [name: string, value: string][];
}
