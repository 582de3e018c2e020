import { SCOPES, type Scope } from '../scopes.ts';
import type { KeyPreset } from './enums.ts';

/** Scopes by preset. */
const HAS: Record<KeyPreset, (scope: Scope) => boolean> = {
  exporter: (scope) =>
    scope === 'audit:export' || ['audit:read', 'traps:read', 'endpoints:read', 'agents:read'].includes(scope),
  recorder: (scope) => scope === 'audit:write',
  auditor: (scope) => scope.endsWith(':read'),
  monitoring: (scope) => scope === 'metrics:read',
};

/** Purposes of the presets, for people. */
export const PRESET_HINTS: Record<KeyPreset, string> = {
  exporter: 'exports evidence: reads the audit service and the records of the other services, and generates packages',
  recorder: 'appends entries, and reads nothing',
  auditor: 'reads everything',
  monitoring: 'reads the metrics, for Prometheus',
};

/** Returns the scopes of a preset; none for no preset. */
export function scopesOfPreset(preset: KeyPreset | undefined): Scope[] {
  return preset === undefined ? [] : SCOPES.filter(HAS[preset]);
}
