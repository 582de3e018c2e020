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
  /** Codes of refusals that no other service has, with their statuses. */
  refusals?: Readonly<Record<string, number>>;
  /** Loads the code of the service: a function that opens it. */
  load(): Promise<unknown>;
}
