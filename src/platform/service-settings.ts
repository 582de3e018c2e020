import type { ZodType } from 'zod';
import type { ServiceModule, ServiceSettings } from './module.ts';
import { MODULES } from './modules.ts';

type OptionsOf<Module> = Module extends { settings: { toOptions(...given: never): infer Options } } ? Options : never;
type Intersection<Each> = (Each extends unknown ? (each: Each) => void : never) extends (each: infer All) => void
  ? All
  : never;

/** Options of all services. */
export type ModuleOptions = Intersection<OptionsOf<(typeof MODULES)[number]>>;

const SETTINGS: readonly ServiceSettings[] = MODULES.flatMap(({ settings }: ServiceModule) => settings ?? []);

/** Schemas of the settings of all services, by their names in platform.yaml. */
export const SERVICE_SETTINGS: Readonly<Record<string, ZodType>> = Object.assign(
  {},
  ...SETTINGS.map(({ file }) => file),
);

/** Returns the options of all services. @throws EvidenceError `config`. */
export function toModuleOptions(file: object, resolve: (path: string) => string): ModuleOptions {
  return Object.assign({}, ...SETTINGS.map(({ toOptions }) => toOptions(file, resolve)));
}

/** Returns the settings of all services as text, by their names in platform.yaml. */
export function serviceSettingsInForce(options: Partial<ModuleOptions>): [name: string, value: string][] {
  return SETTINGS.flatMap(({ inForce }) => inForce(options));
}
