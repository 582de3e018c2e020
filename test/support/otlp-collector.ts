import { type Answer, type FaultServer, type ReceivedRequest, startFaultServer } from './fault-server.ts';

/** A span as a collector receives it. */
export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId: string | null;
  name: string;
  attributes: Record<string, string | number>;
  /** 0 unset, 1 ok, 2 error. */
  status: number;
  seconds: number;
}

/** A collector that accepts only OTLP over HTTP in JSON. */
export interface OtlpCollector extends Pick<FaultServer, 'url' | 'close' | 'requests'> {
  spans(): ReceivedSpan[];
  /** Returns the attributes of the spans' resource. */
  resource(): Record<string, string | number>;
}

/** @param answer replaces the collector's answer; received spans still count. */
export async function startOtlpCollector(answer: Answer | null = null): Promise<OtlpCollector> {
  const server = await startFaultServer((request) => {
    if (answer !== null) return answer(request);
    const isTraces = request.method === 'POST' && request.path === '/v1/traces';
    if (!isTraces || request.headers['content-type'] !== 'application/json') return { status: 404 };
    return { headers: { 'content-type': 'application/json' }, body: '{}' };
  });
  const batches = () => server.requests.flatMap(readBatches);
  return {
    ...server,
    spans: () => batches().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans.map(toSpan))),
    resource: () => attributesOf(batches()[0]?.resource.attributes ?? []),
  };
}

interface Attribute {
  key: string;
  value: { stringValue?: string; intValue?: number | string };
}

interface SentSpan extends Omit<ReceivedSpan, 'attributes' | 'status' | 'seconds' | 'parentSpanId'> {
  parentSpanId?: string;
  attributes: Attribute[];
  status: { code?: number };
  startTimeUnixNano: string;
  endTimeUnixNano: string;
}

interface Batch {
  resource: { attributes: Attribute[] };
  scopeSpans: { spans: SentSpan[] }[];
}

function readBatches({ bytes, headers }: ReceivedRequest): Batch[] {
  if (headers['content-encoding'] !== undefined) throw new Error('this collector takes no compressed spans');
  return (JSON.parse(bytes.toString()) as { resourceSpans: Batch[] }).resourceSpans;
}

function toSpan(span: SentSpan): ReceivedSpan {
  if (!/^[0-9a-f]{32}$/.test(span.traceId) || !/^[0-9a-f]{16}$/.test(span.spanId)) throw new Error('an id is none');
  return {
    traceId: span.traceId,
    spanId: span.spanId,
    parentSpanId: span.parentSpanId ?? null,
    name: span.name,
    attributes: attributesOf(span.attributes),
    status: span.status.code ?? 0,
    seconds: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e9,
  };
}

function attributesOf(attributes: readonly Attribute[]): Record<string, string | number> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]));
}
