import { isAbsolute } from 'node:path';
import { closest } from 'fastest-levenshtein';
import { EvidenceError } from '../../../core/errors.ts';
import { packageFile } from '../../../core/install-paths.ts';
import { parseYaml } from '../../../core/yaml.ts';
import { type Controls, controlsSchema } from '../../../verifier/records/controls.ts';
import type { ReportOptions } from '../../../verifier/records/record.ts';
import type { Config } from './config.ts';
import { readGivenText } from './given-file.ts';

/** Frameworks that the program includes, as files in `templates/controls`. */
const FRAMEWORKS = ['soc2', 'iso27001', 'pci-dss-4', 'hipaa'];

/**
 * Reads the configured control mappings.
 * @param names of `FRAMEWORKS`, or absolute paths of files.
 * @throws EvidenceError `config` with file, line and column, or a suggestion for a misspelled name.
 */
export function readControls(names: readonly string[]): Controls[] {
  return names.map((name) => {
    const path = isAbsolute(name) ? name : packageFile(`templates/controls/${known(name)}.yaml`);
    return parseYaml(controlsSchema, readGivenText('report.controls', path), path);
  });
}

/** Returns the report configuration in the form that a run records. */
export function toReportOptions(
  { organisation, preparedBy, oscal }: Config['report'],
  controls: Controls[],
): ReportOptions {
  return { organisation, prepared_by: preparedBy, oscal, controls };
}

function known(name: string): string {
  if (FRAMEWORKS.includes(name)) return name;
  throw new EvidenceError(
    'config',
    `report.controls names ${name.length <= 16 ? `"${name}"` : 'a mapping'}, which is not a built-in mapping`,
    {
      nextStep: `Did you mean ${closest(name, FRAMEWORKS)}? Built-in mappings: ${FRAMEWORKS.join(', ')}. For your own file, give its path, e.g. ./own.yaml.`,
    },
  );
}
