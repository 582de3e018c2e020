import type { Question } from '../../../verifier/records/question.ts';
import type { Archive } from '../../archive/archive.ts';
import { bindTo } from '../../export/asked.ts';
import { bindingKeysOf } from '../../export/binding.ts';
import type { Binding, ExportContext, HandedOut, Runtime, ServiceInUse } from '../../export/context.ts';
import { toReportOptions } from '../config/controls.ts';
import type { Footing } from '../config/footing.ts';
import { readCommit, readOperator, readTool } from '../config/tool.ts';
import type { ExportOptions } from './export-options.ts';

/** Dependencies of the exports of one command, independent of the run. */
export interface ExportParts {
  options: Omit<ExportOptions, 'answer' | 'revise' | 'scope' | 'notifications'>;
  footing: Footing;
  archive: Archive;
  runtime: Runtime;
}

/** Run that an export is requested for. */
interface AskedRun {
  question: Question;
  supersedes: readonly string[];
  /** Outcomes of handed-out streams; null if this process exports all streams, or only the one that it was given. */
  handedOut: HandedOut | null;
}

/** Assembles the context of an export. */
export async function composeExport(
  { options, footing, archive, runtime }: ExportParts,
  { question, supersedes, handedOut }: AskedRun,
): Promise<ExportContext> {
  const { config, finalizePartial, beginSigning } = options;
  const { recipients, sealKeys, roots, signingKey, publicKeys, stamping, controls } = footing;
  const report = toReportOptions(config.report, controls);
  return {
    question,
    supersedes,
    archive,
    runtime,
    finalizePartial,
    recipients,
    handedOut,
    service: serviceOf(options, question.period),
    acceptsSecrets: config.verify.acceptsSecrets,
    trust: { sealKeys, roots },
    signing: { signingKey, publicKeys, beginSigning, stamping },
    binding: await bindTo({ archive }, question, bindingKeyOf({ options, footing })),
    maker: { tool: readTool(), commit: readCommit(), operator: readOperator(), report },
  };
}

function serviceOf(
  { service: { client, contract, supplements }, serviceMoved }: ExportParts['options'],
  period: Question['period'],
): ServiceInUse {
  return {
    client,
    contract: contract.contract,
    contractFile: contract.file,
    packagePeriod: client.packagePeriod(period),
    isMoved: serviceMoved,
    supplements,
  };
}

export function bindingKeyOf({ options, footing }: Pick<ExportParts, 'options' | 'footing'>): Binding['keyFor'] {
  return bindingKeysOf({ signingKey: footing.signingKey, apiKey: options.config.source.apiKey ?? '' });
}
