import { parseYaml } from '../encoding/yaml.ts';
import { type Description, descriptionSchema } from './description.ts';

/**
 * The text of a contract file.
 * @param name of the file, for errors.
 * @throws EvidenceError `config` naming file, line and column.
 */
export function parseContract(text: string, name: string): Description {
  return parseYaml(descriptionSchema, text, name);
}
