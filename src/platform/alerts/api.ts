/** Interface of alerts for other services: the alerts that they send, and how pages show them. */
export type { Alert, AlertContent, AlertedService, AlertStanding, Alerts } from './alert.ts';
export { alertFact, alertWord, SEVERITY_TONES, severityWord } from './pages/labels.ts';
export { alertStandingSchema } from './wire.ts';
