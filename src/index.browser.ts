import './exporter/browser/stand-ins/dispose.ts';

export { type ErrorCode, EvidenceError } from './core/errors.ts';
export type { Content } from './library/content.ts';
export { verifyBundle, verifyPackage } from './library/in-browser.ts';
export type { Trust } from './library/trust.ts';
export type { ClaimName } from './verifier/claims/claim.ts';
export type { FileReport, StreamReport } from './verifier/verify/file-report.ts';
export type { ObjectFinding } from './verifier/verify/object-finding.ts';
