import { EvidenceError } from '../../../core/errors.ts';
import type { Printer } from '../../../core/terminal/printer.ts';
import type { Description } from '../../../verifier/profile/description.ts';
import type { ContractInUse } from '../../../verifier/reading/in-use.ts';
import { OTHER_SERVICES, SUPPLEMENT_SERVICES } from '../../../verifier/supplements/files.ts';
import { AuditClient } from '../../client/audit.ts';
import type { Tls } from '../../client/dispatcher.ts';
import { DEFAULT_TRANSPORT, type TransportOptions } from '../../client/options.ts';
import { withPageSizes } from '../../client/page-size.ts';
import type { SharedRate } from '../../client/rate.ts';
import { SupplementClient } from '../../client/supplement.ts';
import type { Transport } from '../../client/transport.ts';
import { Transports } from '../../client/transports.ts';
import type { SupplementSource } from '../../supplements/source.ts';
import { readContract } from './contract.ts';
import { readCertificates, readGivenText } from './given-file.ts';
import type { SourceConfig } from './sections.ts';
import { readTool } from './tool.ts';

export interface Service {
  client: AuditClient;
  /** Source of supplements; null if no other service is configured. */
  supplements: SupplementSource | null;
  transport: Transport;
  contract: ContractInUse;
  origin: string;
  /** Address in the form that records keep, without secrets. */
  url: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Connects to the configured audit service.
 * @param sharedRate rate shared with other processes. @param onRequest receives every request.
 * @throws EvidenceError `config` if address or key is missing.
 */
export function connectService(
  config: SourceConfig,
  printer: Printer,
  signal: AbortSignal,
  { sharedRate = null, onRequest }: { sharedRate?: SharedRate | null; onRequest?: TransportOptions['onRequest'] } = {},
): Service {
  if (config.auditUrl === null)
    throw new EvidenceError('config', 'no audit service is named', {
      nextStep: 'Set source.audit_url in evidence.yaml, EVIDENCE_AUDIT_URL, or --audit-url; or try `evidence demo`.',
    });
  if (config.apiKey === null || config.apiKey === '')
    throw new EvidenceError('config', `no API key is given for ${config.auditUrl}`, {
      nextStep: 'Set EVIDENCE_API_KEY to the key, or source.api_key_file or EVIDENCE_API_KEY_FILE to its file.',
    });
  if (!/^[\x21-\x7e]+$/.test(config.apiKey))
    throw new EvidenceError('config', 'the API key contains characters that are not allowed in an HTTP header', {
      nextStep: 'Copy the key again; it is one word of printable ASCII characters.',
    });
  printer.keepSecret(config.apiKey);
  const contract = readContract(config.contractFile);
  const description =
    config.pageItems === null ? contract.description : withPageSizes(contract.description, config.pageItems);
  const { origin } = new URL(config.auditUrl);
  const transports = openTransports(config, config.apiKey, { printer, signal, sharedRate, onRequest });
  const transport = transports.to(origin);
  return {
    transport,
    supplements: connectSupplements(config, description, transports),
    client: new AuditClient(transport, {
      url: config.auditUrl,
      description,
      pinned: contract.file !== null,
      signal,
    }),
    contract,
    origin,
    url: addressOf(config.auditUrl),
    [Symbol.asyncDispose]: () => transports.close(),
  };
}

function openTransports(
  config: SourceConfig,
  apiKey: string,
  {
    printer,
    signal,
    sharedRate,
    onRequest,
  }: Pick<TransportOptions, 'signal' | 'sharedRate'> & {
    printer: Printer;
    onRequest: TransportOptions['onRequest'];
  },
): Transports {
  const { requestsPerSecond, bounds } = config;
  const { name, version } = readTool();
  return new Transports({
    ...DEFAULT_TRANSPORT,
    ...bounds,
    apiKey,
    requestsPerSecond,
    sharedRate,
    tls: readTls(config.tlsFiles, printer),
    userAgent: `${name}/${version}`,
    // A JSON log has each request as an event instead.
    ...(printer.verbose && !printer.logsJson ? { trace: (line: string) => printer.detail(line) } : {}),
    ...(onRequest === undefined ? {} : { onRequest }),
    onWait: oncePer(TOLD_EVERY_MS, (line) => printer.note(line)),
    signal,
  });
}

/**
 * Minimum interval of wait messages: streams that are exported concurrently wait at the same time, and one line covers
 * all of them.
 */
const TOLD_EVERY_MS = 30_000;

function oncePer(milliseconds: number, tell: (line: string) => void): (line: string) => void {
  let last = Number.NEGATIVE_INFINITY;
  return (line) => {
    if (performance.now() - last < milliseconds) return;
    last = performance.now();
    tell(line);
  };
}

/** Returns the address of a service in the form that records keep: origin and path, without credentials and query. */
export function addressOf(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

function readTls(files: SourceConfig['tlsFiles'], printer: Printer): Tls {
  const tls: Tls = {};
  for (const name of ['ca', 'cert', 'key'] as const) {
    const path = files[name];
    if (path !== null) tls[name] = (name === 'key' ? readGivenText : readCertificates)(`source.tls.${name}_file`, path);
  }
  if (tls.key !== undefined) printer.keepSecret(tls.key);
  return tls;
}

/**
 * Returns the services that supplements are collected from; null if none is configured.
 * @throws EvidenceError `config` for a service that the contract does not describe.
 */
function connectSupplements(
  { auditUrl, otherUrls, bounds }: SourceConfig,
  contract: Description,
  transports: Transports,
): SupplementSource | null {
  const { name, supplements } = contract;
  const configured = OTHER_SERVICES.filter((service) => otherUrls[service] !== null);
  if (configured.length === 0) return null;
  const unknown = configured.find((service) => supplements?.[service] == null);
  if (supplements === undefined || unknown !== undefined)
    throw new EvidenceError('config', `source.${unknown}_url is set, but the contract "${name}" does not describe it`, {
      nextStep: `Describe it in the contract's section "supplements", as templates/contract/default.yaml does, or leave out source.${unknown}_url.`,
    });
  const urls = { audit: auditUrl, ...otherUrls };
  const clients = SUPPLEMENT_SERVICES.flatMap((service) => {
    const url = urls[service];
    return url === null ? [] : [[service, new SupplementClient(transports.to(new URL(url).origin), url)] as const];
  });
  const limits = { answers: bounds.maxPages, bytes: bounds.maxBytes.download };
  return { clients: new Map(clients), contract: { ...contract, supplements }, limits };
}
