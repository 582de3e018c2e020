import { isEvidenceError, messageOf } from '../../core/errors.ts';
import { openDispatcher } from '../client/dispatcher.ts';
import type { NotificationChannel } from '../notify/channel.ts';
import { EventLog } from '../notify/event-log.ts';
import { Notifications } from '../notify/notifications.ts';
import type { CommandContext } from './command.ts';
import { type Config, loadConfig } from './config/config.ts';
import type { ConfigFlags } from './config/given.ts';
import { type NotifyConfig, toNotifyConfig } from './config/notify.ts';
import { readTool } from './config/tool.ts';

const CONNECT_MS = 3000;

/**
 * Carries out an export that others are told of: that it began, and how it ended, whatever ends it.
 * @param work returns its exit code.
 */
export async function notifyingExport(
  flags: ConfigFlags,
  context: CommandContext,
  work: (config: Config, notifications: Notifications) => Promise<number>,
): Promise<number> {
  const { environment, directory } = context;
  const dispatcher = openDispatcher(CONNECT_MS, {});
  try {
    let config: Config;
    try {
      config = await loadConfig(flags, environment, directory);
    } catch (error) {
      // Where the configuration cannot be read, those are told that the environment names.
      const channels = await openChannels(ofEnvironment(context), context, dispatcher);
      return await notifying(channels, context, () => Promise.reject(error));
    }
    const channels = await openChannels(config.notify, context, dispatcher);
    return await notifying(channels, context, (notifications) => work(config, notifications));
  } finally {
    await dispatcher.destroy();
  }
}

/** Carries out a worker, whose streams and requests are parts of traces. */
export async function tracingWorker(
  context: CommandContext,
  work: (notifications: Notifications) => Promise<number>,
): Promise<number> {
  const traces = await openTraces('worker', context);
  const logs = context.printer.logsJson ? [new EventLog(context.printer)] : [];
  return notifying(traces === null ? logs : [...logs, traces], context, work);
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
    const reason = signal.aborted && !isEvidenceError(error, 'interrupted') ? signal.reason : error;
    await notifications.end({ exitCode: codeOf(reason), message: printer.scrub(messageOf(reason)) });
    throw error;
  }
}

function ofEnvironment({ environment, directory }: CommandContext): NotifyConfig {
  try {
    return toNotifyConfig({ file: {}, folder: directory, flags: {}, environment, directory });
  } catch {
    return { pingUrl: null, webhook: null, metricsFile: null };
  }
}

async function openChannels(
  { pingUrl, webhook, metricsFile }: NotifyConfig,
  { printer, environment }: CommandContext,
  dispatcher: ReturnType<typeof openDispatcher>,
): Promise<NotificationChannel[]> {
  const channels: NotificationChannel[] = printer.logsJson ? [new EventLog(printer)] : [];
  for (const secret of [pingUrl, webhook?.url, webhook?.secret]) if (secret != null) printer.keepSecret(secret);
  // Each is loaded by those who use it.
  if (pingUrl !== null) channels.push((await import('../notify/pings.ts')).pings(pingUrl, dispatcher));
  if (webhook !== null) channels.push((await import('../notify/webhook.ts')).webhook(webhook, dispatcher));
  if (metricsFile !== null) channels.push((await import('../notify/metrics-file.ts')).metricsFile(metricsFile));
  const traces = await openTraces('export', { printer, environment });
  return traces === null ? channels : [...channels, traces];
}

/** Null where no collector is named, or traces are switched off. */
async function openTraces(
  command: 'export' | 'worker',
  { printer, environment }: Pick<CommandContext, 'printer' | 'environment'>,
): Promise<NotificationChannel | null> {
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ofTraces,
    OTEL_EXPORTER_OTLP_HEADERS: headers = '',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: headersOfTraces = '',
    OTEL_SDK_DISABLED: disabled,
    OTEL_TRACES_EXPORTER: exporter = 'otlp',
  } = environment;
  if ((endpoint ?? ofTraces ?? '') === '' || disabled === 'true' || exporter !== 'otlp') return null;
  for (const header of `${headers},${headersOfTraces}`.split(','))
    printer.keepSecret(decodeURIComponent(header.slice(header.indexOf('=') + 1)));
  return new (await import('../notify/traces.ts')).Traces(command, readTool());
}
