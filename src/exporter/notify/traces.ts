import { AsyncLocalStorage } from 'node:async_hooks';
import { type Context, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, TraceFlags, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { defaultResource, detectResources, envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type ReadableSpan, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { messageOf } from '../../core/errors.ts';
import type { Scrub } from '../../core/secret.ts';
import type { SentRequest } from '../client/call.ts';
import type { ExportEvent } from '../export/events.ts';
import { type CommandEnd, isWell, type NotificationChannel } from './channel.ts';

/** Maximum number of spans that wait to be sent. When it is reached, new spans are dropped. */
const MAX_WAITING = 8192;
const MAX_BATCH = 512;
const SEND_MS = 3000;

interface TracesOptions {
  /** Name of the program. */
  name: string;
  version: string;
  command: 'export' | 'worker';
  /** Host of the collector, for messages. */
  host: string;
  /** Removes secrets from exported texts. */
  scrub: Scrub;
}

/**
 * Records one trace for each command, with a span for each stream and each request, and sends it by OTLP over HTTP.
 * Endpoint, service name and headers are read from the standard variables (OTEL_EXPORTER_OTLP_ENDPOINT,
 * OTEL_SERVICE_NAME, …).
 */
export class Traces implements NotificationChannel {
  readonly name = 'traces';
  readonly #provider: TracerProvider;
  readonly #exporter: Watched;
  readonly #scrub: Scrub;
  readonly #root: Span;
  readonly #context: Context;
  readonly #current = new AsyncLocalStorage<Context>();

  constructor({ name, version, command, host, scrub }: TracesOptions) {
    this.#scrub = scrub;
    this.#exporter = new Watched(new OTLPTraceExporter({ timeoutMillis: SEND_MS }), host);
    const own = resourceFromAttributes({ 'service.name': name, 'service.version': version });
    this.#provider = new TracerProvider({
      resource: defaultResource()
        .merge(own)
        .merge(detectResources({ detectors: [envDetector] })),
      spanProcessors: [
        new BatchSpanProcessor({
          exporter: this.#exporter,
          maxQueueSize: MAX_WAITING,
          maxExportBatchSize: MAX_BATCH,
          exportTimeoutMillis: SEND_MS,
        }),
      ],
    });
    this.#root = this.#tracer.startSpan(`evidence ${command}`, {}, ROOT_CONTEXT);
    this.#context = trace.setSpan(ROOT_CONTEXT, this.#root);
  }

  get traceParent(): string {
    const { traceId, spanId } = this.#root.spanContext();
    return `00-${traceId}-${spanId}-01`;
  }

  get #tracer() {
    return this.#provider.getTracer('evidence');
  }

  listen(event: ExportEvent): void {
    const span = trace.getSpan(this.#current.getStore() ?? this.#context) ?? this.#root;
    if (event.type === 'planned') this.#root.setAttribute('evidence.run_id', event.runId);
    if (event.type === 'step') span.addEvent(event.step);
    if (event.type === 'finished')
      span.setAttributes({
        'evidence.status': event.status,
        'evidence.entries': event.entries,
        'evidence.bytes': event.bytes,
      });
    if (event.type === 'failed') span.setStatus({ code: SpanStatusCode.ERROR, message: this.#scrub(event.reason) });
  }

  async around<T>(streamId: string, work: () => Promise<T>, parent: string | null): Promise<T> {
    const attributes = { 'evidence.stream_id': streamId };
    const context = parent === null ? this.#context : contextOf(parent);
    const span = this.#tracer.startSpan('stream', { attributes }, context);
    try {
      return await this.#current.run(trace.setSpan(context, span), work);
    } catch (error) {
      span.setStatus({ code: SpanStatusCode.ERROR, message: this.#scrub(messageOf(error)) });
      throw error;
    } finally {
      span.end();
    }
  }

  /** Records a request by the OpenTelemetry semantic conventions for HTTP clients. */
  request({ method, url, status, requestId, startedAt, endedAt, failure }: SentRequest): void {
    const { origin, pathname, hostname, port } = new URL(url);
    const attributes = {
      'http.request.method': method,
      // Omits the query, which may show whose evidence is requested.
      'url.full': `${origin}${pathname}`,
      'server.address': hostname,
      ...(port === '' ? {} : { 'server.port': Number(port) }),
      ...(status === null ? {} : { 'http.response.status_code': status }),
      ...(requestId === null ? {} : { 'evidence.request_id': requestId }),
    };
    const parent = this.#current.getStore() ?? this.#context;
    const span = this.#tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes, startTime: startedAt }, parent);
    if (failure !== null) span.setStatus({ code: SpanStatusCode.ERROR, message: this.#scrub(failure) });
    else if (status !== null && status >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endedAt);
  }

  async end(end: CommandEnd): Promise<void> {
    this.#root.setAttribute('evidence.exit_code', end.exitCode);
    if (!isWell(end)) this.#root.setStatus({ code: SpanStatusCode.ERROR, message: end.summary });
    this.#root.end();
    // `shutdown` rejects with the last failure of the exporter.
    await this.#provider.shutdown().catch((error: unknown) => this.#exporter.failed(error));
    if (this.#exporter.failure !== null) throw new Error(this.#exporter.failure);
  }
}

/** Returns the context of another process's trace. https://www.w3.org/TR/trace-context/#traceparent-header */
function contextOf(traceParent: string): Context {
  const [, traceId = '', spanId = ''] = traceParent.split('-');
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags: TraceFlags.SAMPLED, isRemote: true });
}

/** Keeps the failures of an exporter; the span processor would not report them. */
class Watched implements SpanExporter {
  readonly #exporter: SpanExporter;
  readonly #host: string;
  failure: string | null = null;

  /** @param host of the collector, for output. */
  constructor(exporter: SpanExporter, host: string) {
    this.#exporter = exporter;
    this.#host = host;
  }

  export(spans: ReadableSpan[], callback: Parameters<SpanExporter['export']>[1]): void {
    this.#exporter.export(spans, (result) => {
      if (result.code !== 0) this.failed(result.error);
      callback(result);
    });
  }

  failed(error: unknown): void {
    this.failure = `${this.#host} did not accept them (${messageOf(error)})`;
  }

  shutdown(): Promise<void> {
    return this.#exporter.shutdown();
  }
}
