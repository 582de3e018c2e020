import type { Dispatcher } from 'undici';
import { messageOf } from '../../core/errors.ts';
import { openDispatcher } from '../client/dispatcher.ts';
import type { NotificationChannel } from '../notify/channel.ts';
import { EventLog } from '../notify/event-log.ts';
import { Notifications, whyFailed } from '../notify/notifications.ts';
import { type CommandContext, reasonOfEnd } from './command.ts';
import { type Config, loadConfig } from './config/config.ts';
import type { ConfigFlags } from './config/given.ts';
import { CONFIG_FILE, readConfigFile } from './config/given-file.ts';
import { type NotifyConfig, toSoundNotifyConfig } from './config/notify.ts';
import { readTool } from './config/tool.ts';

const CONNECT_MS = 3000;

/**
 * Runs an export with notifications of its beginning and its end, however it ends.
 * @param work returns its exit code.
 */
export async function notifyingExport(
  flags: ConfigFlags,
  context: CommandContext,
  work: (config: Config, notifications: Notifications) => Promise<number>,
): Promise<number> {
  const { environment, directory } = context;
  await using sending = new Sending();
  let config: Config;
  try {
    config = await loadConfig(flags, environment, directory);
  } catch (error) {
    const channels = await openChannels('export', await soundPartOf(flags, context), context, sending);
    return await notifying(channels, context, () => Promise.reject(error));
  }
  const channels = await openChannels('export', config.notify, context, sending);
  return await notifying(channels, context, (notifications) => work(config, notifications));
}

/** HTTP connections to receivers of notifications, opened on first use. */
class Sending implements AsyncDisposable {
  #dispatcher: Dispatcher | null = null;

  /** @throws EvidenceError `config` for an invalid proxy. */
  dispatcher(): Dispatcher {
    this.#dispatcher ??= openDispatcher(CONNECT_MS, {});
    return this.#dispatcher;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#dispatcher?.destroy();
  }
}

/** Runs a worker whose streams and requests belong to traces. */
export async function tracingWorker(
  context: CommandContext,
  work: (notifications: Notifications) => Promise<number>,
): Promise<number> {
  await using sending = new Sending();
  const nobody: NotifyConfig = { pingUrl: null, webhook: null, metricsFile: null };
  return await notifying(await openChannels('worker', nobody, context, sending), context, work);
}

async function notifying(
  channels: readonly NotificationChannel[],
  { printer, signal, codeOf }: CommandContext,
  work: (notifications: Notifications) => Promise<number>,
): Promise<number> {
  const notifications = new Notifications(channels, (line) => printer.note(line));
  notifications.begin();
  try {
    const exitCode = await work(notifications);
    await notifications.end({ exitCode, message: null });
    return exitCode;
  } catch (error) {
    const reason = reasonOfEnd(error, signal);
    await notifications.end({ exitCode: codeOf(reason), message: printer.scrub(messageOf(reason)) });
    throw error;
  }
}

/** Returns the receivers from a configuration that is invalid elsewhere. */
async function soundPartOf(flags: ConfigFlags, { environment, directory }: CommandContext): Promise<NotifyConfig> {
  const named = flags.config ?? environment['EVIDENCE_CONFIG'];
  const found = await readConfigFile(named, directory, CONFIG_FILE).catch(() => ({ file: {}, folder: directory }));
  return toSoundNotifyConfig({ ...found, flags: {}, environment, directory });
}

/** Command whose streams and requests belong to traces. */
type TracedCommand = 'export' | 'worker';

/** Opens the configured channels. A channel that cannot be opened is reported, and the export goes on. */
async function openChannels(
  command: TracedCommand,
  { pingUrl, webhook, metricsFile }: NotifyConfig,
  context: CommandContext,
  sending: Sending,
): Promise<NotificationChannel[]> {
  const { printer } = context;
  for (const secret of [pingUrl, webhook?.url, webhook?.secret]) if (secret != null) printer.keepSecret(secret);
  const channels: NotificationChannel[] = printer.logsJson ? [new EventLog(printer)] : [];
  const open = async (name: string, make: () => Promise<NotificationChannel | null>) => {
    try {
      const channel = await make();
      if (channel !== null) channels.push(channel);
    } catch (error) {
      printer.note(whyFailed(name, error));
    }
  };
  // Each channel is loaded only if it is used.
  if (pingUrl !== null)
    await open('ping', async () => (await import('../notify/posts.ts')).pings(pingUrl, sending.dispatcher()));
  if (webhook !== null)
    await open('webhook', async () => (await import('../notify/posts.ts')).webhook(webhook, sending.dispatcher()));
  if (metricsFile !== null)
    await open('metrics file', async () => (await import('../notify/metrics-file.ts')).metricsFile(metricsFile));
  await open('traces', () => openTraces(command, context));
  return channels;
}

/**
 * Returns null if no collector is configured or traces are disabled.
 * @throws Error for an invalid address.
 */
async function openTraces(
  command: TracedCommand,
  { printer, environment }: Pick<CommandContext, 'printer' | 'environment'>,
): Promise<NotificationChannel | null> {
  const {
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces,
    OTEL_EXPORTER_OTLP_ENDPOINT: ofAll,
    OTEL_EXPORTER_OTLP_HEADERS: headers = '',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: headersOfTraces = '',
    OTEL_SDK_DISABLED: disabled = '',
    OTEL_TRACES_EXPORTER: exporter = '',
  } = environment;
  const endpoint = ofTraces || ofAll || '';
  if (endpoint === '' || disabled.toLowerCase() === 'true' || !['', 'otlp'].includes(exporter)) return null;
  if (!URL.canParse(endpoint))
    throw new Error('the address of the collector (OTEL_EXPORTER_OTLP_ENDPOINT) is not a URL');
  for (const header of `${headers},${headersOfTraces}`.split(',')) keepHeader(printer, header);
  const { Traces } = await import('../notify/traces.ts');
  return new Traces({ ...readTool(), command, host: new URL(endpoint).host, scrub: (text) => printer.scrub(text) });
}

/** Keeps the value of a header secret, both as written and decoded as it is sent. */
function keepHeader(printer: CommandContext['printer'], header: string): void {
  const value = header.slice(header.indexOf('=') + 1).trim();
  printer.keepSecret(value);
  try {
    printer.keepSecret(decodeURIComponent(value));
  } catch {
    // An undecodable value is sent as written.
  }
}
