import { keys, people } from './accounts/module.ts';
import { administration } from './administration/module.ts';
import { agents } from './agents/module.ts';
import { alerts } from './alerts/module.ts';
import { audit } from './audit/module.ts';
import { endpoints } from './endpoints/module.ts';
import { traps } from './traps/module.ts';

/** Services of a platform. A new service is a folder and a line here. */
export const MODULES = [audit, traps, endpoints, agents, alerts, keys, people, administration] as const;
